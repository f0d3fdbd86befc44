package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Owns the actors and scopes made in it; closing it ends them. When one escalates, its failure
 * policy decides. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="scope"}
 *
 * <p>Only the root, {@link ActorSystem}, does not track its unnamed actors: its report counts them,
 * but {@code close}, {@code dump}, {@code awaitQuiescence} and the watchdog do not see them.
 */
public interface ActorScope extends AutoCloseable {

  /** {@return the name; "root" for the root} */
  String name();

  /** {@return a builder of actors without a name} */
  ActorBuilder<Object> anonymous();

  /**
   * {@return a builder of an actor with this name}
   *
   * @param name unique among living actors; not blank
   */
  ActorBuilder<Object> named(String name);

  /**
   * {@return the living actor with this name, if any} It must have been made with
   * {@link ActorBuilder#protocol}, as the JVM does not know a handler's type of messages.
   *
   * @param <M> messages
   * @param name of the actor
   * @param protocol that it was made with
   * @throws IllegalStateException if it was made without one
   * @throws IllegalArgumentException if it was made with another
   */
  <M> Optional<Actor<M>> find(String name, Class<M> protocol);

  /**
   * {@return a new, open scope inside this one, with the same options}
   *
   * @param name not blank; need not be unique
   * @throws IllegalStateException if this one is closed
   */
  ActorScope openScope(String name);

  /**
   * {@return a new, open scope inside this one}
   *
   * @param name not blank; need not be unique
   * @param options changes this scope's
   * @throws IllegalStateException if this one is closed
   */
  ActorScope openScope(String name, UnaryOperator<Options> options);

  /** {@return the accounts so far; exact while quiet, final once closed} */
  Report report();

  /**
   * {@return the last 100 dead letters in and below this scope, oldest first} Each keeps its actor.
   */
  List<DeadLetter> deadLetters();

  /** {@return the tree as text: name, strategy, activity, queue, counts of each actor} */
  String dump();

  /**
   * {@return measurements of all actors that this scope and the scopes below it track, in the order
   * in which they were made} A pool counts as one actor. Meters and dashboards use them.
   */
  List<ActorStats> actors();

  /**
   * Waits until nothing is queued, no handler runs and no timer is due; for tests. With a manual
   * clock, a message that waits for a later time leaves the scope quiet until the clock is moved.
   *
   * @param limit counted by the system's clock, whichever clock the scope has
   * @return false if the limit came first
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag
   */
  boolean awaitQuiescence(Duration limit);

  /**
   * {@return whether this scope, or one around it, has begun to close, so that nothing new can be
   * made in it} The root is never closed.
   */
  boolean isClosed();

  /**
   * Runs code once when this scope, or a scope around it, begins to close, or at once if that has
   * begun. A long conversation says farewell to its client in this way. It has a thread of its own,
   * and the close does not wait for it. An exception that it throws is logged.
   *
   * @param farewell the code to run
   * @return ends the registration
   */
  CloseHook onClosing(Runnable farewell);

  /** Closes within the drain limit. Logs the report if something was left. */
  @Override
  void close();

  /**
   * Ends all members, the last made first, each after what is queued. After the limit it interrupts
   * the rest, and after the grace cuts them off. Meanwhile no actor can be made, except by
   * {@code Entities}, which end after the servers. No message begins after this call has returned.
   * The root ends what it tracks, and stays open.
   *
   * <p>A second call waits for the report of the first. Called by a handler inside the scope, it
   * ends all others, lets the handler's actor exit after its message, and returns.
   *
   * @param limit for all together; zero interrupts at once
   * @return the accounts, with what was left
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag; the scope
   * is closed, without more patience
   */
  Report closeWithin(Duration limit);

  /** A registration of {@link #onClosing}. */
  interface CloseHook extends AutoCloseable {

    /** Forgets the code, unless it has begun. */
    @Override
    void close();
  }

  /**
   * The accounts of a scope and those below: {@code sent} = {@code handled} + {@code handling} +
   * all {@code unhandled} + {@code waiting}.
   *
   * @param scope its name
   * @param sent all, even if refused
   * @param handled by a handler that returned
   * @param handling by a handler that runs now
   * @param unhandled by reason
   * @param queued in mailboxes now
   * @param undelivered dead letters of a close
   * @param unresponsive ended actors whose handlers still run
   */
  record Report(String scope, long sent, long handled, long handling, Map<DeadLetter.Reason, Long> unhandled,
      long queued, List<DeadLetter> undelivered, List<String> unresponsive) {}

  /** How a scope treats its actors; copied from the scope around it. Immutable. */
  final class Options implements Cloneable {
    private static final Options DEFAULT = new Options();

    /**
     * When a scope reports an actor.
     *
     * @param handlingLimit how long one message may take
     * @param maxQueued how many messages may be queued
     */
    public record Watchdog(Duration handlingLimit, int maxQueued) {}

    // written by `with` only, before the copy is published
    private Strategy strategy = Strategy.FIBER;
    private Mailbox<Object> mailbox = Mailbox.unbounded();
    private FailurePolicy failurePolicy = FailurePolicy.stop();
    private Duration askLimit = Duration.ofSeconds(30);
    private Duration drainLimit = Duration.ofSeconds(10);
    private Duration grace = Duration.ofSeconds(1);
    private Consumer<DeadLetter> deadLetters = letter -> {};
    private Scheduler scheduler = Scheduler.system();
    private Watchdog watchdog; // null: none
    private boolean messageTexts = true;
    private List<ContextPropagator<?>> carriers = List.of();

    private Options() {}

    /** {@return the root's options unless changed; always the same} */
    public static Options defaults() {
      return DEFAULT;
    }

    private Options with(Consumer<Options> change) {
      try {
        var copy = (Options) clone();
        change.accept(copy);
        VarHandle.storeStoreFence(); // a thread that finds the copy by a race sees it whole
        return copy;
      } catch (CloneNotSupportedException impossible) {
        throw new AssertionError(impossible);
      }
    }

    /**
     * {@return a copy with this default strategy}
     *
     * @param strategy {@link Strategy#FIBER} unless changed
     */
    public Options withStrategy(Strategy strategy) {
      Objects.requireNonNull(strategy, "strategy");
      return with(copy -> copy.strategy = strategy);
    }

    /**
     * {@return a copy with this default mailbox}
     *
     * @param mailbox {@link Mailbox#unbounded()} unless changed
     */
    public Options withMailbox(Mailbox<Object> mailbox) {
      Objects.requireNonNull(mailbox, "mailbox");
      return with(copy -> copy.mailbox = mailbox);
    }

    /**
     * {@return a copy with this policy for failures that its actors escalate}
     *
     * @param policy {@link FailurePolicy#stop()} unless changed: the scope closes
     */
    public Options withFailurePolicy(FailurePolicy policy) {
      Objects.requireNonNull(policy, "policy");
      if (policy.retries() > 0 || policy.redeliveries() > 0) throw new IllegalArgumentException(policy
          + " cannot be a scope's policy: it does not decide about messages; give retries and redeliveries to the "
          + "actor's policy");
      if (policy.kind() == FailurePolicy.Kind.RESUME && policy.backoff().isPresent())
        throw new IllegalArgumentException(
            policy + " cannot be a scope's policy: it suspends no actor that another made; give the back-off to the "
                + "actor's policy");
      return with(copy -> copy.failurePolicy = policy);
    }

    /**
     * {@return a copy with this default limit of {@code ask}}
     *
     * @param limit 30 seconds unless changed; more than zero
     */
    public Options withAskLimit(Duration limit) {
      Objects.requireNonNull(limit, "limit");
      if (!limit.isPositive()) throw new IllegalArgumentException(
          "an ask limit of " + Durations.text(limit) + " leaves no time for an answer; give more than zero");
      return with(copy -> copy.askLimit = limit);
    }

    /**
     * {@return a copy whose {@code close} handles what is queued within this limit}
     *
     * @param limit 10 seconds unless changed, for all actors together; zero interrupts at once
     */
    public Options withDrainLimit(Duration limit) {
      notNegative(limit, "drain limit");
      return with(copy -> copy.drainLimit = limit);
    }

    /**
     * {@return a copy with this time to obey an interrupt by {@code kill} or close}
     *
     * @param grace 1 second unless changed; zero cuts off at once
     */
    public Options withKillGrace(Duration grace) {
      notNegative(grace, "grace");
      return with(copy -> copy.grace = grace);
    }

    /**
     * {@return a copy whose listener sees every dead letter, on the thread that makes it}
     *
     * @param listener quick and thread-safe; an exception that it throws is logged, and dead
     * letters that it causes are only counted
     */
    public Options withDeadLetters(Consumer<DeadLetter> listener) {
      Objects.requireNonNull(listener, "listener");
      return with(copy -> copy.deadLetters = listener);
    }

    /**
     * {@return a copy that measures timers, limits, back-offs and graces by this clock}
     *
     * @param scheduler {@link Scheduler#system()} unless changed
     */
    public Options withScheduler(Scheduler scheduler) {
      Objects.requireNonNull(scheduler, "scheduler");
      return with(copy -> copy.scheduler = scheduler);
    }

    /**
     * {@return a copy that logs an actor that spends longer than {@code handling} on one message,
     * with its stack, or has more than {@code waiting} messages in its mailbox} Each message is
     * logged once, and the mailbox again after it has shrunk to half. Off by default.
     *
     * @param handling more than zero; checked four times within
     * @param waiting one or more
     */
    public Options withWatchdog(Duration handling, int waiting) {
      Objects.requireNonNull(handling, "handling");
      if (!handling.isPositive()) throw new IllegalArgumentException(
          "a watchdog after " + Durations.text(handling) + " would report every message; give more than zero");
      if (waiting < 1) throw new IllegalArgumentException(
          "a watchdog at " + waiting + " queued messages would report every actor; give one or more");
      return with(copy -> copy.watchdog = new Watchdog(handling, waiting));
    }

    /**
     * {@return a copy with one more carrier, for actors made from now on} Carriers are set in the
     * order in which they were added, and reset in reverse.
     * {@snippet class="io.fibry.JavadocSnippetsTest" region="carrier"}
     *
     * @param <C> the type of the context that it captures
     * @param carrier thread-safe
     */
    public <C> Options withContextPropagator(ContextPropagator<C> carrier) {
      Objects.requireNonNull(carrier, "carrier");
      List<ContextPropagator<?>> more = Stream.concat(carriers.stream(), Stream.of(carrier)).toList();
      return with(copy -> copy.carriers = more);
    }

    /**
     * {@return a copy that tells logs, dumps, watchdog reports and the texts of exceptions what
     * messages say, or only their class} For messages with personal data or secrets. Names of
     * actors and the texts of your own exceptions stay. Texts of strings are in quotes, all of one
     * line, at most 200 characters; a {@code toString} has 50 ms, or a second if it computes.
     *
     * @param shown true unless changed
     */
    public Options withMessageContents(boolean shown) {
      return with(copy -> copy.messageTexts = shown);
    }

    private static Duration notNegative(Duration time, String name) {
      if (Objects.requireNonNull(time, name).isNegative())
        throw new IllegalArgumentException(
            "a " + name + " of " + Durations.text(time) + " lies in the past; give zero or more");
      return time;
    }

    /** {@return the default strategy} */
    public Strategy strategy() {
      return strategy;
    }

    /** {@return the default mailbox} */
    public Mailbox<Object> mailbox() {
      return mailbox;
    }

    /** {@return the policy for escalated failures} */
    public FailurePolicy failurePolicy() {
      return failurePolicy;
    }

    /** {@return the default limit of {@code ask}} */
    public Duration askLimit() {
      return askLimit;
    }

    /** {@return the limit of {@code close}} */
    public Duration drainLimit() {
      return drainLimit;
    }

    /** {@return the time to obey an interrupt} */
    public Duration killGrace() {
      return grace;
    }

    /** {@return the listener to dead letters} */
    public Consumer<DeadLetter> deadLetters() {
      return deadLetters;
    }

    /** {@return the clock} */
    public Scheduler scheduler() {
      return scheduler;
    }

    /** {@return when actors are reported, or empty if never} */
    public Optional<Watchdog> watchdog() {
      return Optional.ofNullable(watchdog);
    }

    /** {@return whether texts of messages are shown} */
    public boolean hasMessageContents() {
      return messageTexts;
    }

    /**
     * {@return the carriers of context that travels with messages, in order; always the same list}
     */
    public List<ContextPropagator<?>> contextPropagators() {
      return carriers;
    }
  }
}
