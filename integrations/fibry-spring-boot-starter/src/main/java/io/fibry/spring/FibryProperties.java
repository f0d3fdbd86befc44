package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.Strategy;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What {@code fibry.*} says.
 *
 * @param enabled Whether there is a scope of actors.
 * @param name Name of the scope; that of the application unless given.
 * @param strategy How an actor gets a thread, unless told otherwise.
 * @param askLimit How long an ask waits for its answer, unless told otherwise.
 * @param drainLimit How long the end of the application waits for messages that were sent.
 * @param grace How long a handler that was interrupted has to obey.
 * @param propagateContext Whether messages take along what context-propagation finds on the
 * sender's thread, such as the observation. Needs that library.
 * @param mailbox How messages wait.
 * @param watchdog What is logged about actors that are slow.
 * @param executor Executors of Spring and Tomcat that are pools of fibers.
 * @param metrics What is measured.
 * @param web What web clients are told.
 */
@ConfigurationProperties("fibry")
record FibryProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String name,
    @DefaultValue("fiber") StrategyName strategy,
    @DefaultValue("30s") Duration askLimit,
    @DefaultValue("10s") Duration drainLimit,
    @DefaultValue("1s") Duration grace,
    @DefaultValue("true") boolean propagateContext,
    @DefaultValue Mailbox mailbox,
    @DefaultValue Watchdog watchdog,
    @DefaultValue Executor executor,
    @DefaultValue Metrics metrics,
    @DefaultValue Web web) {

  /** The strategies that have a name. */
  enum StrategyName {
    /** A virtual thread, while there is work. */
    FIBER(Strategy.FIBER),
    /** A virtual thread of its own. */
    RESIDENT_FIBER(Strategy.residentFiber()),
    /** A platform thread of its own. */
    THREAD(Strategy.THREAD),
    /** The sender's thread: for tests. */
    CALLER(Strategy.CALLER);

    private final Strategy strategy;

    StrategyName(Strategy strategy) {
      this.strategy = strategy;
    }
  }

  /**
   * How messages wait, unless told otherwise.
   *
   * @param capacity How many may wait; unlimited unless given.
   * @param overflow What happens to one too many, where there is a capacity.
   * @param within How long a message may have to wait, where there is a capacity: who would wait
   * longer is one too many.
   */
  record Mailbox(@Nullable Integer capacity, @DefaultValue("reject") Overflow overflow, @Nullable Duration within) {
    io.fibry.mailbox.Mailbox<Object> mailbox() {
      var mailbox = capacity == null ? io.fibry.mailbox.Mailbox.unbounded()
          : io.fibry.mailbox.Mailbox.bounded(capacity, overflow);
      return within == null ? mailbox : mailbox.within(within);
    }
  }

  /**
   * When an actor is logged as slow.
   *
   * @param handling How long one message may be handled; nobody looks unless given.
   * @param waiting How many messages may wait.
   */
  record Watchdog(@Nullable Duration handling, @DefaultValue("10000") int waiting) {}

  /**
   * Executors of others that are pools of fibers.
   *
   * @param tasks The applicationTaskExecutor, that of Async methods.
   * @param tomcat The executor of Tomcat's requests.
   */
  record Executor(@DefaultValue Tasks tasks, @DefaultValue Tomcat tomcat) {}

  /**
   * The executor of Async methods.
   *
   * @param enabled Whether it is a pool of fibers.
   * @param concurrency How many tasks run at once.
   * @param waiting How many tasks may wait; one more is refused.
   */
  record Tasks(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("1024") int waiting) {}

  /**
   * The executor of Tomcat's requests.
   *
   * @param enabled Whether it is a pool of fibers.
   * @param concurrency How many requests are handled at once.
   * @param waiting How many requests may wait; the connection of one more is closed.
   */
  record Tomcat(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("8192") int waiting) {}

  /**
   * What is measured beside the counts, which cost nothing.
   *
   * @param timers Whether each message is timed: how long it waits and how long it is handled.
   */
  record Metrics(@DefaultValue("true") boolean timers) {}

  /**
   * What web clients are told.
   *
   * @param refusals Whether a full mailbox is a 503 and a late answer a 504.
   * @param retryAfter After how long a refused client may try again.
   */
  record Web(@DefaultValue("true") boolean refusals, @DefaultValue("1s") Duration retryAfter) {}

  /** The options of a scope as these properties say. */
  ActorScope.Options applyTo(ActorScope.Options options) {
    var changed = options.withStrategy(strategy.strategy).withMailbox(mailbox.mailbox()).withAskLimit(askLimit)
        .withDrainLimit(drainLimit).withGrace(grace);
    return watchdog.handling == null ? changed : changed.withWatchdog(watchdog.handling, watchdog.waiting);
  }
}
