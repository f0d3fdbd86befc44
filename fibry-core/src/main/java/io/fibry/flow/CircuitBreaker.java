package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.CircuitOpenException;
import io.fibry.Handler;
import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
import io.fibry.block.SendStackProbe;
import io.fibry.flow.CircuitState.StateChange;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Durations;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;

/**
 * Stops calls to a service that fails. The breaker runs around the handlers that call the service,
 * and counts the failures of these handlers. If too many of the latest calls have failed, the
 * breaker is open: messages fail at once with a {@link CircuitOpenException}, and the service is
 * not called. After a pause a few messages probe the service; if all of them succeed, the breaker
 * is closed again. Thread-safe.
 * {@snippet class="io.fibry.FlowSnippetsTest" region="circuitBreaker"}
 *
 * <p>A breaker that is put around several builders has one state for all actors of these builders.
 * The exception of an open breaker is a {@link io.fibry.RequestException}, so it does not count as
 * a failure of the actor. An HTTP server responds to it with 503. If a handler asks another actor,
 * the call fails when that actor refuses the request, answers too late or has ended. Therefore full
 * mailboxes open the breaker, too. If a handler promises its answer by {@code replyWhen}, the call
 * is counted when the promise is made.
 */
public final class CircuitBreaker {
  /** How a breaker treats messages. */
  public enum State {
    /** Messages are handled. */
    CLOSED,
    /** Messages are refused. */
    OPEN,
    /** A few messages are handled as probes, the others are refused. */
    HALF_OPEN
  }

  private static final Logger LOG = SafeLogger.of(CircuitBreaker.class);

  private final String name;
  private final Options options;
  private final BlockBuilder<?> blockBuilder;
  private final Scheduler clock;
  private final CircuitState circuit;

  private CircuitBreaker(String name, BlockBuilder<?> blockBuilder, Options options) {
    this.name = name;
    this.blockBuilder = blockBuilder;
    this.clock = blockBuilder.scheduler();
    this.options = options;
    this.circuit = new CircuitState(options.windowSize, options.minCalls, options.failureRate,
        Durations.nanos(options.pause), options.probes);
  }

  /**
   * Makes a closed breaker.
   *
   * @param name appears in logs and exceptions; for example, the name of the service
   * @param builder a builder whose scope supplies the clock of the breaker, and decides whether its
   * log shows the text of the exception that opens it
   * @param options changes the defaults
   * @return the breaker
   */
  public static CircuitBreaker of(String name, ActorBuilder<?> builder, UnaryOperator<Options> options) {
    if (Objects.requireNonNull(name, "name").isBlank())
      throw new IllegalArgumentException("the name of a circuit breaker is blank; name the service that it protects");
    return new CircuitBreaker(name, BlockBuilder.of(Objects.requireNonNull(builder, "builder")),
        ChangedCopy.optionsOf(new Options(), options));
  }

  /**
   * Puts the breaker around the actors of a builder.
   *
   * @param <M> messages
   * @param builder makes actors whose handlers call the service
   * @return a copy
   */
  public <M> ActorBuilder<M> around(ActorBuilder<M> builder) {
    Handler.Interceptor<M> interceptor = this::run;
    return Objects.requireNonNull(builder, "builder").intercept(interceptor);
  }

  /** {@return the present state} */
  public State state() {
    return circuit.state();
  }

  /**
   * The counts of a breaker at one moment.
   *
   * @param permitted calls that the breaker has let begin
   * @param failed permitted calls that count as failed by the options of the breaker
   * @param refused calls that the open or half-open breaker has refused
   */
  public record BreakerStats(long permitted, long failed, long refused) {}

  /** {@return the counts since the breaker was made} */
  public BreakerStats stats() {
    return circuit.stats();
  }

  private void run(Object message, Handler.Task next) throws Exception {
    SendStackProbe.probe(); // throws here if the stack is nearly full, because `leave` must not fail
    long start = clock.nanoTime();
    long periodNumber = circuit.enter(start);
    if (periodNumber < 0)
      throw new CircuitOpenException(refusalText(periodNumber == CircuitState.REFUSED_HALF_OPEN), name, message);
    Throwable failure = null;
    try {
      next.run();
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      leave(periodNumber, start, failure);
    }
  }

  private String refusalText(boolean isHalfOpen) {
    return "circuit breaker '" + name + (isHalfOpen
        ? "' is half open, and its " + options.probes + " probes have begun; try again when they have ended"
        : "' is open, because too many calls failed; try again after its pause of " + Durations.text(options.pause));
  }

  private void leave(long periodNumber, long start, Throwable failure) {
    long now = clock.nanoTime();
    boolean isSlow = options.slowLimit != null && now - start > Durations.nanos(options.slowLimit);
    boolean isIgnored = failure != null && !isFailure(failure);
    var change =
        isIgnored ? circuit.ignore(periodNumber) : circuit.leave(periodNumber, now, failure != null || isSlow);
    if (change != StateChange.NONE) notifyListener(change, failure, isSlow);
  }

  /** Returns whether the failure counts. If the filter throws, the failure counts. */
  private boolean isFailure(Throwable failure) {
    if (failure instanceof InterruptedException || failure instanceof CancellationException) return false;
    try {
      return options.failureFilter.test(failure);
    } catch (Throwable filterFailure) {
      LOG.error("the failure filter of circuit breaker '{}' threw, so the call counts as failed", name, filterFailure);
      return true;
    }
  }

  private void notifyListener(StateChange change, Throwable failure, boolean isSlow) {
    if (change == StateChange.CLOSED) LOG.info("circuit breaker '{}' is closed again", name);
    else LOG.warn("circuit breaker '{}' is open for {}; the last call {}", name, Durations.text(options.pause),
        failure != null ? "threw " + blockBuilder.describe(failure) : isSlow ? "was slow"
            : "succeeded, but too many of the latest calls failed");
    try {
      options.listener.accept(change == StateChange.CLOSED ? State.CLOSED : State.OPEN);
    } catch (Throwable listenerFailure) {
      LOG.error("the listener of circuit breaker '{}' failed", name, listenerFailure);
    }
  }

  @Override
  public String toString() {
    return "circuit breaker '" + name + "', " + state();
  }

  /** The settings that decide when a breaker opens and closes. Immutable and thread-safe. */
  public static final class Options implements Cloneable {
    // written by `with` only, in a new copy
    private int windowSize = 20;
    private int minCalls = 10;
    private double failureRate = 0.5;
    private Duration pause = Duration.ofSeconds(5);
    private int probes = 3;
    private Duration slowLimit; // null: no call is slow
    private Predicate<? super Throwable> failureFilter = failure -> true;
    private Consumer<State> listener = state -> {};

    Options() {}

    private Options with(Consumer<Options> change) {
      return ChangedCopy.of(this::clone, change);
    }

    /**
     * {@return a copy whose breaker counts this number of the latest calls}
     *
     * @param calls the number of calls; by default 20
     * @param minCalls the breaker does not open before this many calls have ended; at least 1 and
     * at most {@code calls}, by default 10
     */
    public Options withWindow(int calls, int minCalls) {
      Arguments.requireAtLeastOne(minCalls, "a breaker cannot judge by " + minCalls + " calls");
      if (minCalls > calls) throw new IllegalArgumentException("a breaker that counts the latest " + calls
          + " calls never counts " + minCalls + "; let minCalls be at most calls");
      return with(copy -> {
        copy.windowSize = calls;
        copy.minCalls = minCalls;
      });
    }

    /**
     * {@return a copy whose breaker opens when this share of the counted calls has failed}
     *
     * @param rate more than 0, at most 1; by default 0.5
     */
    public Options withFailureRate(double rate) {
      if (!(rate > 0 && rate <= 1)) throw new IllegalArgumentException(
          "a breaker cannot open at a share of " + rate + " failures; give more than 0 and at most 1");
      return with(copy -> copy.failureRate = rate);
    }

    /**
     * {@return a copy whose breaker stays open for this time}
     *
     * @param pause more than zero; by default 5 seconds
     */
    public Options withPause(Duration pause) {
      Arguments.requirePositive(pause, "pause",
          "a breaker that opens for " + Durations.text(pause) + " protects no service");
      return with(copy -> copy.pause = pause);
    }

    /**
     * {@return a copy whose breaker closes after this number of successful probes}
     *
     * @param probes at least 1; by default 3
     */
    public Options withProbes(int probes) {
      Arguments.requireAtLeastOne(probes, "a breaker cannot close after " + probes + " probes");
      return with(copy -> copy.probes = probes);
    }

    /**
     * {@return a copy whose breaker counts slow calls as failures}
     *
     * @param limit calls that take longer are slow; more than zero. Without this option, no call is
     * slow
     */
    public Options withSlowCalls(Duration limit) {
      Arguments.requirePositive(limit, "limit", "each call takes longer than " + Durations.text(limit));
      return with(copy -> copy.slowLimit = limit);
    }

    /**
     * {@return a copy whose breaker counts only these failures} Interrupts and cancellations never
     * count.
     *
     * @param filter chooses the failures that count; by default all count
     */
    public Options withFailureFilter(Predicate<? super Throwable> filter) {
      Objects.requireNonNull(filter, "filter");
      return with(copy -> copy.failureFilter = filter);
    }

    /**
     * {@return a copy that notifies a listener when the breaker opens or closes}
     *
     * @param listener gets {@link State#OPEN} or {@link State#CLOSED}; must be quick, because
     * it runs on the thread of an actor
     */
    public Options withListener(Consumer<State> listener) {
      Objects.requireNonNull(listener, "listener");
      return with(copy -> copy.listener = listener);
    }
  }
}
