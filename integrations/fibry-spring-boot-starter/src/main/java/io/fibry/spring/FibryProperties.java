package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.Strategy;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code fibry.*}.
 *
 * @param enabled Whether the application has a scope of actors.
 * @param name Name of the scope; by default that of the application.
 * @param strategy How an actor gets a thread, by default.
 * @param askLimit How long an ask waits for its answer, by default.
 * @param drainLimit How long the scope, when it closes, waits for messages to be handled.
 * @param grace How long an interrupted handler may take to end.
 * @param propagateContext Whether messages carry what context-propagation finds on the sender's
 * thread, such as the observation. Needs that library.
 * @param mailbox The default mailbox.
 * @param watchdog When a slow actor is logged.
 * @param executor Pools of fibers as executors of Spring and Tomcat.
 * @param metrics What is measured.
 * @param web How web clients see refusals.
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

  /** The strategies that a property can name. */
  enum StrategyName {
    /** A virtual thread while there is work. */
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
   * The default mailbox.
   *
   * @param capacity How many messages may wait; by default any number.
   * @param overflow What happens to a message that finds the mailbox full.
   * @param within A bounded mailbox also counts as full for a message that would wait longer.
   */
  record Mailbox(@Nullable Integer capacity, @DefaultValue("reject") Overflow overflow, @Nullable Duration within) {
    io.fibry.mailbox.Mailbox<Object> mailbox() {
      var mailbox = capacity == null ? io.fibry.mailbox.Mailbox.unbounded()
          : io.fibry.mailbox.Mailbox.bounded(capacity, overflow);
      return within == null ? mailbox : mailbox.within(within);
    }
  }

  /**
   * When a slow actor is logged.
   *
   * @param handling Longest time for one message; the watchdog runs only if this is given.
   * @param waiting Most messages in a mailbox.
   */
  record Watchdog(@Nullable Duration handling, @DefaultValue("10000") int waiting) {}

  /**
   * Pools of fibers as executors.
   *
   * @param tasks The applicationTaskExecutor, which runs Async methods.
   * @param tomcat The executor of Tomcat's requests.
   */
  record Executor(@DefaultValue Tasks tasks, @DefaultValue Tomcat tomcat) {}

  /**
   * The executor of Async methods.
   *
   * @param enabled Whether the executor is a pool of fibers.
   * @param concurrency How many tasks run at once.
   * @param waiting How many tasks may wait; further ones are refused.
   */
  record Tasks(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("1024") int waiting) {}

  /**
   * The executor of Tomcat's requests.
   *
   * @param enabled Whether the executor is a pool of fibers.
   * @param concurrency How many requests are handled at once.
   * @param waiting How many requests may wait; the connections of further ones are closed.
   */
  record Tomcat(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("8192") int waiting) {}

  /**
   * What is measured in addition to the counts.
   *
   * @param timers Whether the waiting time and the handling time of each message are measured.
   */
  record Metrics(@DefaultValue("true") boolean timers) {}

  /**
   * How web clients see refusals.
   *
   * @param refusals Whether a full mailbox becomes a 503, and a late answer a 504.
   * @param retryAfter When a refused client may try again.
   */
  record Web(@DefaultValue("true") boolean refusals, @DefaultValue("1s") Duration retryAfter) {}

  /** Sets these properties on the options of a scope. */
  ActorScope.Options applyTo(ActorScope.Options options) {
    var changed = options.withStrategy(strategy.strategy).withMailbox(mailbox.mailbox()).withAskLimit(askLimit)
        .withDrainLimit(drainLimit).withGrace(grace);
    return watchdog.handling == null ? changed : changed.withWatchdog(watchdog.handling, watchdog.waiting);
  }
}
