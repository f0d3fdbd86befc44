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
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops calling what fails. Around the handlers that call a service, it counts their failures. If
 * too many of the latest calls have failed, it is open: messages fail at once with a
 * {@link CircuitOpenException}, and the service is left alone. After a pause a few messages probe
 * it; if all of them succeed, the breaker is closed again. Thread-safe.
 * {@snippet class="io.fibry.RecipeSnippetsTest" region="circuitBreaker"}
 *
 * <p>All actors made by its builders share it. A refusal is a {@link io.fibry.RequestException}: no
 * failure of the actor, and over HTTP a 503. A handler that asks an actor fails if that one
 * refuses, is late or has ended, so full mailboxes open the breaker, too. An answer that is
 * promised by {@code replyWhen} counts when it is promised.
 */
public final class CircuitBreaker {
  /** What a breaker does with messages. */
  public enum State {
    /** They are handled. */
    CLOSED,
    /** They are refused. */
    OPEN,
    /** A few are handled as probes, the others refused. */
    HALF_OPEN
  }

  private static final Logger LOG = LoggerFactory.getLogger(CircuitBreaker.class);

  private final String name;
  private final Options options;
  private final Scheduler clock;
  private final CircuitState circuit;

  private CircuitBreaker(String name, Scheduler clock, Options options) {
    this.name = name;
    this.clock = clock;
    this.options = options;
    this.circuit = new CircuitState(options.window, options.minCalls, options.rate, Durations.nanos(options.pause),
        options.probes);
  }

  /**
   * A closed breaker.
   *
   * @param name for texts, such as that of the service
   * @param builder of the scope whose clock it uses
   * @param options changes the defaults
   * @return the breaker
   */
  public static CircuitBreaker of(String name, ActorBuilder<?> builder, UnaryOperator<Options> options) {
    if (Objects.requireNonNull(name, "name").isBlank())
      throw new IllegalArgumentException("a blank name tells nobody anything; name what the breaker protects");
    return new CircuitBreaker(name, BlockBuilder.of(Objects.requireNonNull(builder, "builder")).scheduler(),
        ChangedCopy.of(new Options(), options));
  }

  /**
   * Puts the breaker around the actors of a builder.
   *
   * @param <M> messages
   * @param builder makes actors whose handlers call the service
   * @return a copy
   */
  public <M> ActorBuilder<M> around(ActorBuilder<M> builder) {
    Handler.Interceptor<M> guarded = this::run;
    return Objects.requireNonNull(builder, "builder").intercept(guarded);
  }

  /** {@return the present state} */
  public State state() {
    return circuit.state();
  }

  private void run(Object message, Handler.Task next) throws Exception {
    SendStackProbe.probe(); // the thread must be able to leave
    long begun = clock.nanoTime();
    long period = circuit.enter(begun);
    if (period == CircuitState.REFUSED) throw new CircuitOpenException(
        "circuit breaker '" + name + "' is open, since too many calls failed; "
            + "try again after its pause of " + Durations.text(options.pause),
        name, message);
    Throwable failure = null;
    try {
      next.run();
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      leave(period, begun, failure);
    }
  }

  private void leave(long period, long begun, Throwable failure) {
    long now = clock.nanoTime();
    boolean slow = options.slow != null && now - begun > Durations.nanos(options.slow);
    boolean ignored = failure != null && !isFailure(failure);
    var change = ignored ? circuit.ignore(period) : circuit.leave(period, now, failure != null || slow);
    if (change != StateChange.NONE) notifyListener(change, failure, slow);
  }

  /** A choice that throws counts. */
  private boolean isFailure(Throwable failure) {
    if (failure instanceof InterruptedException || failure instanceof CancellationException) return false;
    try {
      return options.counted.test(failure);
    } catch (RuntimeException undecided) {
      LOG.error("circuit breaker '{}' could not decide whether a failure counts, so it counts", name, undecided);
      return true;
    }
  }

  private void notifyListener(StateChange change, Throwable failure, boolean slow) {
    if (change == StateChange.CLOSED) LOG.info("circuit breaker '{}' is closed again", name);
    else LOG.warn("circuit breaker '{}' is open for {}; the last call {}", name, Durations.text(options.pause),
        failure != null ? "threw " + failure.getClass().getName() : slow ? "was slow" : "failed");
    try {
      options.listener.accept(change == StateChange.CLOSED ? State.CLOSED : State.OPEN);
    } catch (RuntimeException broken) {
      LOG.error("the listener of circuit breaker '{}' failed", name, broken);
    }
  }

  @Override
  public String toString() {
    return "circuit breaker '" + name + "', " + state();
  }

  /** When it opens and closes. Immutable and thread-safe. */
  public static final class Options implements Cloneable {
    // written by `with` only
    private int window = 20;
    private int minCalls = 10;
    private double rate = 0.5;
    private Duration pause = Duration.ofSeconds(5);
    private int probes = 3;
    private Duration slow; // null: no call is slow
    private Predicate<? super Throwable> counted = failure -> true;
    private Consumer<State> listener = state -> {};

    Options() {}

    private Options with(Consumer<Options> change) {
      return ChangedCopy.of(this::clone, change);
    }

    /**
     * {@return a copy that judges by the latest calls}
     *
     * @param calls how many at most; by default 20
     * @param least how many there must be, at least 1 and at most {@code calls}; by default 10
     */
    public Options withWindow(int calls, int least) {
      Arguments.requireAtLeastOne(least, "a breaker that judges by " + least + " calls");
      if (least > calls) throw new IllegalArgumentException("of the latest " + calls + " calls there are never " + least
          + "; let the second be at most the first");
      return with(copy -> {
        copy.window = calls;
        copy.minCalls = least;
      });
    }

    /**
     * {@return a copy that opens at this share of failures}
     *
     * @param rate more than 0, at most 1; by default 0.5
     */
    public Options withFailureRate(double rate) {
      if (!(rate > 0 && rate <= 1)) throw new IllegalArgumentException(
          "a breaker cannot open at a share of " + rate + " failures; give more than 0 and at most 1");
      return with(copy -> copy.rate = rate);
    }

    /**
     * {@return a copy that stays open this long}
     *
     * @param pause more than zero; by default 5 seconds
     */
    public Options withPause(Duration pause) {
      Arguments.requirePositive(pause, "pause",
          "a breaker that opens for " + Durations.text(pause) + " spares nobody anything");
      return with(copy -> copy.pause = pause);
    }

    /**
     * {@return a copy that closes after this many probes}
     *
     * @param probes at least 1; by default 3
     */
    public Options withProbes(int probes) {
      Arguments.requireAtLeastOne(probes, "a breaker that closes after " + probes + " probes");
      return with(copy -> copy.probes = probes);
    }

    /**
     * {@return a copy that counts slow calls as failures}
     *
     * @param limit calls that take longer are slow; more than zero; by default no call is slow
     */
    public Options withSlowCalls(Duration limit) {
      Arguments.requirePositive(limit, "limit", "each call takes longer than " + Durations.text(limit));
      return with(copy -> copy.slow = limit);
    }

    /**
     * {@return a copy that counts only these failures} Interrupts and cancellations never count.
     *
     * @param which chooses the failures that count; by default all
     */
    public Options withFailureFilter(Predicate<? super Throwable> which) {
      Objects.requireNonNull(which, "which");
      return with(copy -> copy.counted = which);
    }

    /**
     * {@return a copy that tells of changes}
     *
     * @param listener gets {@link State#OPEN} or {@link State#CLOSED}; quick, as it runs on the
     * thread of an actor
     */
    public Options withListener(Consumer<State> listener) {
      Objects.requireNonNull(listener, "listener");
      return with(copy -> copy.listener = listener);
    }
  }
}
