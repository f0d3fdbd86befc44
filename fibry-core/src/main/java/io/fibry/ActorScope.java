package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Owns the actors and scopes that are made in it: closing the scope ends them. If an actor
 * escalates a failure, the failure policy of its scope applies. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="scope"}
 *
 * <p>Every scope but the root tracks all its actors. The root, {@link ActorSystem}, tracks only its
 * named actors. Its report counts the messages of unnamed actors, but {@code close}, {@code dump},
 * {@code awaitQuiescence} and the watchdog ignore these actors.
 */
public interface ActorScope extends AutoCloseable {

  /** {@return the name of the scope; "root" for the root scope} */
  String name();

  /** {@return a builder of actors without a name} */
  ActorBuilder<Object> anonymous();

  /**
   * {@return a builder of an actor with this name}
   *
   * @param name unique among the living actors of this scope; not blank
   */
  ActorBuilder<Object> named(String name);

  /**
   * {@return the living actor with this name, or empty if there is none} The actor must have been
   * made with {@link ActorBuilder#protocol}, because the JVM does not know the type of messages
   * that a handler takes.
   *
   * @param <M> the type of the messages
   * @param name the name of the actor
   * @param protocol the type that was given to the actor's builder
   * @throws IllegalStateException if the actor was made without a protocol
   * @throws IllegalArgumentException if the actor was made with another protocol
   */
  <M> Optional<Actor<M>> find(String name, Class<M> protocol);

  /**
   * {@return a new, open scope inside this scope, with the same options}
   *
   * @param name not blank; need not be unique
   * @throws IllegalStateException if this scope is closed
   */
  ActorScope openScope(String name);

  /**
   * {@return a new, open scope inside this scope, with changed options}
   *
   * @param name not blank; need not be unique
   * @param options gets the options of this scope, and returns the options of the new scope
   * @throws IllegalStateException if this scope is closed
   */
  ActorScope openScope(String name, UnaryOperator<Options> options);

  /** {@return counts so far; exact while no message is sent or handled, final after the close} */
  Report report();

  /**
   * {@return the last 100 dead letters of each reason, of this scope and the scopes in it, oldest
   * first} A listed dead letter keeps its actor in memory.
   */
  List<DeadLetter> deadLetters();

  /**
   * {@return a text with a line for each scope and actor in this scope} The line of a scope shows
   * its counts. The line of an actor shows its name, strategy, activity, queue length and counts.
   */
  String dump();

  /**
   * {@return statistics of all actors that this scope and the scopes in it track, oldest first} A
   * pool counts as one actor. Meters and dashboards use these statistics.
   */
  List<ActorStats> actors();

  /**
   * Waits until no message is queued, no handler runs and no timer is due; for tests. A connection
   * that waits for its client's next request or message counts as idle. With a manual clock,
   * sleeping handlers and suspended actors count as idle until the test advances the clock.
   *
   * @param limit how long to wait at most, by the system's clock, whichever clock the scope has
   * @return true if the scope became quiet, false if the limit was over before that
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt
   * flag stays set
   */
  boolean awaitQuiescence(Duration limit);

  /**
   * {@return whether this scope or a scope around it has begun to close} No actor or scope can then
   * be made in it, except the actors that {@code Entities} load. The root is never closed.
   */
  boolean isClosed();

  /**
   * Registers code that runs once, when this scope or a scope around it begins to close. If the
   * close has begun, the code runs at once. Such code can, for example, end a long conversation. It
   * runs on a thread of its own, and the close does not wait for it. So a text that it sends to a
   * WebSocket may come too late. Send a good-bye before the close, and wait for it by
   * {@link #awaitQuiescence}. An exception that the code throws is logged.
   *
   * @param hook the code to run
   * @return the registration, which can be cancelled
   */
  CloseHook onClosing(Runnable hook);

  /**
   * Closes the scope as {@link #closeWithin} does, with the drain limit of its options. If messages
   * were left unhandled, the report is logged.
   */
  @Override
  void close();

  /**
   * Ends all actors and scopes in this scope, the newest first; each actor first handles its queued
   * messages. When the limit is over, the remaining actors are interrupted. Actors that still run
   * after the kill grace are cut off: see {@link Exitable#kill}. Once the close has begun, only
   * {@code Entities} can make actors, because a server of the scope may need them until the server
   * ends. No handler begins after this method has returned. But the root scope ends only the actors
   * that it tracks, and stays open.
   *
   * <p>A second call waits for the report of the first call. If a handler inside the scope calls
   * this method, all other actors end, and the method returns; the handler's own actor ends after
   * the current message.
   *
   * @param limit for all actors together; zero interrupts at once
   * @return the counts, and the dead letters since the close began
   * @throws java.util.concurrent.CancellationException if the thread is interrupted: the remaining
   * actors are then interrupted at once, the scope is closed, and the interrupt flag stays set
   */
  Report closeWithin(Duration limit);

  /** The registration of code by {@link #onClosing}. */
  interface CloseHook extends AutoCloseable {

    /** Cancels the registration. Code that has begun continues. */
    @Override
    void close();
  }

  /**
   * Counts of the messages of a scope and the scopes in it: {@code sent} = {@code handled} +
   * {@code handling} + all {@code unhandled} + {@code queued}.
   *
   * @param scope the name of the scope
   * @param sent all messages, including refused messages
   * @param handled messages whose handler has returned
   * @param handling messages whose handler runs now
   * @param unhandled for each reason the number of messages that were not handled
   * @param queued messages that wait in mailboxes now
   * @param deadLetterCounts the part of {@code unhandled} for which no asker waited
   * @param lastDeadLetter the time of the last one, or of any of the last ones if they were lost at
   * the same time; by its scope's clock, without {@code DISCONNECTED} and {@code TIMER_CANCELLED}
   * @param restarted how often actors have been restarted
   * @param suspended actors that are suspended after a failure, and workers of pools, now
   * @param deadLetters all dead letters since the close began; empty in {@link #report}
   * @param unresponsive names of actors that were cut off and whose handlers still run
   */
  record Report(String scope, long sent, long handled, long handling, Map<DeadLetter.Reason, Long> unhandled,
      long queued, Map<DeadLetter.Reason, Long> deadLetterCounts, Optional<Instant> lastDeadLetter, long restarted,
      int suspended, List<DeadLetter> deadLetters, List<String> unresponsive) {}

  /** The options of a scope. A new scope has the options of the scope around it. Immutable. */
  final class Options implements Cloneable {
    private static final Options DEFAULT = new Options();

    /**
     * The limits beyond which a scope logs an actor.
     *
     * @param handlingLimit how long the handling of one message may take
     * @param maxQueued how many messages may be queued in a mailbox
     */
    public record Watchdog(Duration handlingLimit, int maxQueued) {}

    // written by `with` only, before the copy is published
    private Strategy strategy = Strategy.FIBER;
    private Mailbox<Object> mailbox = Mailbox.unbounded();
    private FailurePolicy failurePolicy = FailurePolicy.stop();
    private Duration askLimit = Duration.ofSeconds(30);
    private Duration drainLimit = Duration.ofSeconds(10);
    private Duration killGrace = Duration.ofSeconds(1);
    private Consumer<DeadLetter> deadLetterListener = new NoListener();
    private Scheduler scheduler = Scheduler.system();
    private Watchdog watchdog; // null: none
    private boolean mayShowMessageContents = true;
    private List<ContextPropagator<?>> propagators = List.of();

    private static final class NoListener implements Consumer<DeadLetter> {
      @Override
      public void accept(DeadLetter letter) {}
    }

    private Options() {}

    /** {@return the default options, which the root scope has until it is configured} */
    public static Options defaults() {
      return DEFAULT;
    }

    private Options with(Consumer<Options> change) {
      try {
        var copy = (Options) clone();
        change.accept(copy);
        VarHandle.storeStoreFence(); // a thread that gets the copy by a data race sees all its fields
        return copy;
      } catch (CloneNotSupportedException impossible) {
        throw new AssertionError(impossible);
      }
    }

    /**
     * {@return a copy with this default strategy}
     *
     * @param strategy by default {@link Strategy#FIBER}
     */
    public Options withStrategy(Strategy strategy) {
      return with(copy -> copy.strategy = Objects.requireNonNull(strategy, "strategy"));
    }

    /**
     * {@return a copy with this default mailbox}
     *
     * @param mailbox by default {@link Mailbox#unbounded()}
     */
    public Options withMailbox(Mailbox<Object> mailbox) {
      return with(copy -> copy.mailbox = Objects.requireNonNull(mailbox, "mailbox"));
    }

    /**
     * {@return a copy with this policy for failures that actors of the scope escalate}
     *
     * @param policy by default {@link FailurePolicy#stop()}, which closes the scope
     */
    public Options withFailurePolicy(FailurePolicy policy) {
      Objects.requireNonNull(policy, "policy");
      if (policy.retries() > 0 || policy.redeliveries() > 0) throw new IllegalArgumentException(policy
          + " cannot be a scope's policy: a scope does not decide about messages; give retries and redeliveries to the "
          + "actor's policy");
      if (policy.kind() == FailurePolicy.Kind.RESUME && policy.backoff().isPresent())
        throw new IllegalArgumentException(
            policy + " cannot be a scope's policy: a scope resumes an actor without a pause; give the backoff to the "
                + "actor's policy");
      return with(copy -> copy.failurePolicy = policy);
    }

    /**
     * {@return a copy with this default limit of {@code ask}}
     *
     * @param limit by default 30 seconds; more than zero
     */
    public Options withAskLimit(Duration limit) {
      Objects.requireNonNull(limit, "limit");
      if (!limit.isPositive()) throw new IllegalArgumentException(
          "an ask limit of " + Durations.text(limit) + " leaves no time for an answer; give more than zero");
      return with(copy -> copy.askLimit = limit);
    }

    /**
     * {@return a copy whose {@code close} lets actors handle queued messages for this time}
     *
     * @param limit by default 10 seconds, for all actors together; zero interrupts at once
     */
    public Options withDrainLimit(Duration limit) {
      Durations.requireNotNegative(limit, "drain limit", "a drain limit");
      return with(copy -> copy.drainLimit = limit);
    }

    /**
     * {@return a copy with this kill grace: the time in which an interrupted handler must return}
     *
     * @param grace by default 1 second; zero cuts the actor off at once
     */
    public Options withKillGrace(Duration grace) {
      Durations.requireNotNegative(grace, "kill grace", "a kill grace");
      return with(copy -> copy.killGrace = grace);
    }

    /**
     * {@return a copy whose listener gets every dead letter, on the thread that causes it}
     *
     * @param listener quick and thread-safe. An exception that it throws is logged. Dead letters
     * that the listener itself causes are only counted
     */
    public Options withDeadLetterListener(Consumer<DeadLetter> listener) {
      return with(copy -> copy.deadLetterListener = Objects.requireNonNull(listener, "listener"));
    }

    /**
     * {@return a copy that measures timers, limits, backoffs and grace periods by this clock}
     *
     * @param scheduler by default {@link Scheduler#system()}
     */
    public Options withScheduler(Scheduler scheduler) {
      return with(copy -> copy.scheduler = Objects.requireNonNull(scheduler, "scheduler"));
    }

    /**
     * {@return a copy that logs slow actors and long mailboxes} An actor that handles one message
     * for longer than {@code handlingLimit} is logged once, with its stack. An actor with more than
     * {@code maxQueued} queued messages is logged, and again only after its queue has shrunk to
     * half of {@code maxQueued}. The default is no watchdog.
     *
     * @param handlingLimit more than zero; checked every quarter of this time
     * @param maxQueued one or more
     */
    public Options withWatchdog(Duration handlingLimit, int maxQueued) {
      Objects.requireNonNull(handlingLimit, "handlingLimit");
      if (!handlingLimit.isPositive()) throw new IllegalArgumentException(
          "a watchdog after " + Durations.text(handlingLimit) + " would report every message; give more than zero");
      if (maxQueued < 1) throw new IllegalArgumentException(
          "a watchdog at " + maxQueued + " queued messages would report every actor; give one or more");
      return with(copy -> copy.watchdog = new Watchdog(handlingLimit, maxQueued));
    }

    /**
     * {@return a copy with one more context propagator} Contexts are restored in the order in which
     * their propagators were added, and closed in reverse.
     * {@snippet class="io.fibry.JavadocSnippetsTest" region="propagator"}
     *
     * @param <C> the type of the context that the propagator captures
     * @param propagator thread-safe
     */
    public <C> Options withContextPropagator(ContextPropagator<C> propagator) {
      Objects.requireNonNull(propagator, "propagator");
      List<ContextPropagator<?>> extended = Stream.concat(propagators.stream(), Stream.of(propagator)).toList();
      return with(copy -> copy.propagators = extended);
    }

    /**
     * {@return a copy that says whether logs, dumps, watchdog reports and the texts of exceptions
     * show the text of a message, or only its class} Turn this off if messages have personal data
     * or secrets. Names of actors and the texts of your own exceptions are shown in any case.
     *
     * <p>A text has one line of at most 200 characters; strings are in quotes. If {@code toString}
     * waits for more than 50 ms, or computes for more than a second, only the class is shown.
     *
     * @param isShown true, the default, shows the texts of messages; false shows only their class
     */
    public Options withMessageContents(boolean isShown) {
      return with(copy -> copy.mayShowMessageContents = isShown);
    }

    /** {@return the default strategy} */
    public Strategy strategy() {
      return strategy;
    }

    /** {@return the default mailbox} */
    public Mailbox<Object> mailbox() {
      return mailbox;
    }

    /** {@return the policy for failures that actors escalate} */
    public FailurePolicy failurePolicy() {
      return failurePolicy;
    }

    /** {@return the default limit of {@code ask}} */
    public Duration askLimit() {
      return askLimit;
    }

    /** {@return how long {@code close} lets actors handle queued messages} */
    public Duration drainLimit() {
      return drainLimit;
    }

    /** {@return the time in which a handler must return after an interrupt by a kill or close} */
    public Duration killGrace() {
      return killGrace;
    }

    /** {@return the listener that gets every dead letter} */
    public Consumer<DeadLetter> deadLetterListener() {
      return deadLetterListener;
    }

    /** {@return the clock of timers, limits, backoffs and grace periods} */
    public Scheduler scheduler() {
      return scheduler;
    }

    /** {@return the limits beyond which an actor is logged, or empty if there is no watchdog} */
    public Optional<Watchdog> watchdog() {
      return Optional.ofNullable(watchdog);
    }

    /** {@return whether logs, dumps and exceptions show texts of messages} */
    public boolean mayShowMessageContents() {
      return mayShowMessageContents;
    }

    /** {@return the context propagators, in the order in which they were added} */
    public List<ContextPropagator<?>> contextPropagators() {
      return propagators;
    }
  }
}
