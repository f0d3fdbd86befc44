package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Owns the actors and scopes made in it; closing it ends them. It is also their supervisor: what an
 * actor escalates, its failure policy decides. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="scope"}
 *
 * <p>Only the root, {@link ActorSystem}, does not track its actors without a name: they count in
 * its accounts, but {@code close}, {@code dump}, {@code awaitQuiet} and the watchdog do not see
 * them.
 */
public interface ActorScope extends AutoCloseable {

  /**
   * Its name.
   *
   * @return "root" for the root
   */
  String name();

  /**
   * For actors without a name.
   *
   * @return a builder
   */
  ActorBuilder<Object> anonymous();

  /**
   * For an actor with this name, unique among the living of the scope.
   *
   * @param name not blank
   * @return a builder
   */
  ActorBuilder<Object> named(String name);

  /**
   * The living actor that was made with this name and {@code protocol}.
   *
   * @param <M> its messages
   * @param name its name
   * @param protocol what it was made with
   * @return empty if there is none
   */
  <M> Optional<Actor<M>> find(String name, Class<M> protocol);

  /**
   * A new scope inside this one, with the same options.
   *
   * @param name not blank; need not be unique
   * @return the scope, open
   * @throws IllegalStateException if this one is closed
   */
  ActorScope openScope(String name);

  /**
   * A new scope inside this one.
   *
   * @param name not blank; need not be unique
   * @param options changes those of this scope
   * @return the scope, open
   * @throws IllegalStateException if this one is closed
   */
  ActorScope openScope(String name, UnaryOperator<Options> options);

  /**
   * The accounts so far; after the close, for good.
   *
   * @return exact once the scope is quiet
   */
  Report report();

  /**
   * The last dead letters of this scope and those below it. Each keeps its actor.
   *
   * @return at most 100, oldest first
   */
  List<DeadLetter> deadLetters();

  /**
   * The tree as text: for each actor name, strategy, what it does, what waits, counts.
   *
   * @return several lines
   */
  String dump();

  /**
   * Waits until nothing waits, no handler runs and no timer is due; for tests. Measured by the
   * machine's clock, whatever the scope's.
   *
   * @param limit how long at most
   * @return false when the limit came first
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept
   */
  boolean awaitQuiet(Duration limit);

  /**
   * Closes it within its drain limit. Logs the report if something was left.
   *
   * @see #closeWithin
   */
  @Override
  void close();

  /**
   * Ends all it owns, the last made first, each after what waits in its mailbox; and when the limit
   * is over interrupts all that is left, which cuts off after its grace what ignores that. Nothing
   * new can be made in it meanwhile, and no message is begun after this returned. The root does the
   * same with what it tracks, and stays open.
   *
   * <p>Called again, it waits for the report of the first call. Called by a handler inside the
   * scope, it ends all others, lets that handler's actor exit after its message, and returns.
   *
   * @param limit for all together; zero interrupts at once
   * @return the accounts, with what was left
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted, which
   * ends the patience at once; the scope is closed all the same, and the flag is kept
   */
  Report closeWithin(Duration limit);

  /**
   * The accounts of a scope and those below it: {@code sent} = {@code handled} + all
   * {@code unhandled} + {@code waiting}.
   *
   * @param scope its name
   * @param sent all that was sent, also what was refused
   * @param handled by a handler that returned
   * @param unhandled by reason
   * @param waiting in mailboxes now
   * @param leftovers of a close: the dead letters it made
   * @param running actors that were ended and whose handlers have not obeyed yet
   */
  record Report(String scope, long sent, long handled, Map<DeadLetter.Reason, Long> unhandled, long waiting,
      List<DeadLetter> leftovers, List<String> running) {}

  /** How a scope treats its actors; starts as a copy of the scope around it. Immutable. */
  final class Options implements Cloneable {
    private static final Options DEFAULT = new Options();

    /**
     * When a scope reports an actor.
     *
     * @param handling how long an actor may handle one message
     * @param waiting how many messages may wait for an actor
     */
    public record Watchdog(Duration handling, int waiting) {}

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
    private List<Carrier<?>> carriers = List.of();

    private Options() {}

    /**
     * The options of the root, unless changed.
     *
     * @return always the same object
     */
    public static Options defaults() {
      return DEFAULT;
    }

    private Options with(Consumer<Options> change) {
      try {
        var copy = (Options) clone();
        change.accept(copy);
        return copy;
      } catch (CloneNotSupportedException impossible) {
        throw new AssertionError(impossible);
      }
    }

    /**
     * How actors get a thread, unless told.
     *
     * @param strategy {@link Strategy#FIBER} unless changed
     * @return a changed copy
     */
    public Options withStrategy(Strategy strategy) {
      Objects.requireNonNull(strategy, "strategy");
      return with(copy -> copy.strategy = strategy);
    }

    /**
     * How messages wait, unless told.
     *
     * @param mailbox {@link Mailbox#unbounded()} unless changed
     * @return a changed copy
     */
    public Options withMailbox(Mailbox<Object> mailbox) {
      Objects.requireNonNull(mailbox, "mailbox");
      return with(copy -> copy.mailbox = mailbox);
    }

    /**
     * What becomes of a failure that an actor of the scope escalates.
     *
     * @param policy {@link FailurePolicy#stop()} unless changed: the scope closes
     * @return a changed copy
     */
    public Options withFailurePolicy(FailurePolicy policy) {
      Objects.requireNonNull(policy, "policy");
      if (policy.retries() > 0) throw new IllegalArgumentException(policy
          + " cannot be a scope's: by the time it decides the message is gone; give the retries to the actor's policy");
      return with(copy -> copy.failurePolicy = policy);
    }

    /**
     * How long {@code ask} waits when it is not told.
     *
     * @param limit 30 seconds unless changed; more than zero
     * @return a changed copy
     */
    public Options withAskLimit(Duration limit) {
      Objects.requireNonNull(limit, "limit");
      if (!limit.isPositive()) throw new IllegalArgumentException(
          "an ask limit of " + limit + " leaves no time for an answer; give more than zero");
      return with(copy -> copy.askLimit = limit);
    }

    /**
     * How long {@code close} lets actors handle what waits.
     *
     * @param limit 10 seconds unless changed, for all actors together; zero interrupts at once
     * @return a changed copy
     */
    public Options withDrainLimit(Duration limit) {
      notNegative(limit, "drain limit");
      return with(copy -> copy.drainLimit = limit);
    }

    /**
     * How long a handler that was interrupted, by {@code kill} or by the close, has to obey.
     *
     * @param grace 1 second unless changed; zero cuts off at once
     * @return a changed copy
     */
    public Options withGrace(Duration grace) {
      notNegative(grace, "grace");
      return with(copy -> copy.grace = grace);
    }

    /**
     * Sees every dead letter, on the thread it happens on. Must be quick; what it throws is logged;
     * a dead letter made inside it is counted only.
     *
     * @param listener called by many threads at once
     * @return a changed copy
     */
    public Options withDeadLetters(Consumer<DeadLetter> listener) {
      Objects.requireNonNull(listener, "deadLetters");
      return with(copy -> copy.deadLetters = listener);
    }

    /**
     * What timers, limits, back-offs and graces are measured by.
     *
     * @param scheduler {@link Scheduler#system()} unless changed
     * @return a changed copy
     */
    public Options withScheduler(Scheduler scheduler) {
      Objects.requireNonNull(scheduler, "scheduler");
      return with(copy -> copy.scheduler = scheduler);
    }

    /**
     * Logs once, with its stack, an actor that handles one message for longer than this, or has
     * more than so many waiting; the latter again after it had half as many. Off unless told.
     *
     * @param handling how long one message may take; it is looked at four times in this time
     * @param waiting how many may wait
     * @return a changed copy
     */
    public Options withWatchdog(Duration handling, int waiting) {
      Objects.requireNonNull(handling, "handling");
      if (!handling.isPositive()) throw new IllegalArgumentException(
          "a watchdog after " + handling + " would bark at everything; give more than zero");
      if (waiting < 1) throw new IllegalArgumentException(
          "a watchdog at " + waiting + " waiting messages would bark at everything; give one or more");
      return with(copy -> copy.watchdog = new Watchdog(handling, waiting));
    }

    /**
     * Travels with the messages of actors made from now on, beside the carriers it already has:
     * they are set in the order given, and taken back in the reverse order.
     * {@snippet class="io.fibry.JavadocSnippetsTest" region="carrier"}
     *
     * @param <C> what it captures
     * @param carrier used by many threads at once
     * @return a changed copy
     */
    public <C> Options withCarrier(Carrier<C> carrier) {
      Objects.requireNonNull(carrier, "carrier");
      List<Carrier<?>> more = Stream.concat(carriers.stream(), Stream.of(carrier)).toList();
      return with(copy -> copy.carriers = more);
    }

    private static Duration notNegative(Duration time, String name) {
      if (Objects.requireNonNull(time, name).isNegative())
        throw new IllegalArgumentException("a " + name + " of " + time + " lies in the past; give zero or more");
      return time;
    }

    /**
     * How actors get a thread, unless they are told.
     *
     * @return the strategy
     */
    public Strategy strategy() {
      return strategy;
    }

    /**
     * How messages wait, unless an actor is told.
     *
     * @return the mailbox
     */
    public Mailbox<Object> mailbox() {
      return mailbox;
    }

    /**
     * What becomes of a failure that an actor of the scope escalates.
     *
     * @return the policy
     */
    public FailurePolicy failurePolicy() {
      return failurePolicy;
    }

    /**
     * How long {@code ask} waits, unless it is told.
     *
     * @return more than zero
     */
    public Duration askLimit() {
      return askLimit;
    }

    /**
     * How long {@code close} lets actors handle what waits.
     *
     * @return zero or more
     */
    public Duration drainLimit() {
      return drainLimit;
    }

    /**
     * How long an interrupted handler has to obey.
     *
     * @return zero or more
     */
    public Duration grace() {
      return grace;
    }

    /**
     * What sees every dead letter.
     *
     * @return the listener; one that does nothing, unless told
     */
    public Consumer<DeadLetter> deadLetters() {
      return deadLetters;
    }

    /**
     * What timers, limits, back-offs and graces are measured by.
     *
     * @return the clock
     */
    public Scheduler scheduler() {
      return scheduler;
    }

    /**
     * When an actor is reported.
     *
     * @return empty: never
     */
    public Optional<Watchdog> watchdog() {
      return Optional.ofNullable(watchdog);
    }

    /**
     * What travels with messages.
     *
     * @return in the order in which they are set; always the same list
     */
    public List<Carrier<?>> carriers() {
      return carriers;
    }
  }

  /**
   * Something of the sender's thread that its messages take along, such as the MDC: captured when a
   * message is sent, or a timer started, and set around its handling. A request that is handled on
   * its asker's thread needs none. What a carrier throws is logged, and the message is handled all
   * the same. Must be thread-safe, and quick.
   *
   * @param <C> what it captures
   */
  interface Carrier<C> {

    /**
     * The MDC of slf4j, whatever is behind it.
     *
     * @return always the same one
     */
    static Carrier<?> mdc() {
      return Mdc.CARRIER;
    }

    /**
     * Called on the sender's thread.
     *
     * @return what to set; must not change afterwards
     */
    C capture();

    /**
     * Called on the handler's thread, before the handler and the code around it.
     *
     * @param captured what was captured for this message
     * @return closed on the same thread when all is done with the message; puts back what was there
     * before
     */
    AutoCloseable set(C captured);
  }
}
