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
 * @param enabled Whether there is a scope of actors.
 * @param name Name of the scope; by default the application's.
 * @param strategy How an actor gets a thread.
 * @param askLimit How long an ask waits.
 * @param drainLimit How long a closing scope handles messages.
 * @param killGrace How long an interrupted handler may take to end.
 * @param messageContents Whether logs, dumps and exceptions show what messages say, not only
 * their class.
 * @param propagateContext Whether messages carry what context-propagation captures, such as the
 * observation.
 * @param mailbox The default mailbox.
 * @param watchdog When a slow actor is logged.
 * @param executor Executors that are pools of fibers.
 * @param metrics The scope of the measurements.
 * @param web How web clients see refusals.
 * @param store Where durable actors are kept.
 * @param cluster How this process joins others.
 */
@ConfigurationProperties("fibry")
record FibryProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String name,
    @DefaultValue("fiber") StrategyName strategy,
    @DefaultValue("30s") Duration askLimit,
    @DefaultValue("10s") Duration drainLimit,
    @DefaultValue("1s") Duration killGrace,
    @DefaultValue("true") boolean messageContents,
    @DefaultValue("true") boolean propagateContext,
    @DefaultValue Mailbox mailbox,
    @DefaultValue Watchdog watchdog,
    @DefaultValue Executor executor,
    @DefaultValue Metrics metrics,
    @DefaultValue Web web,
    @DefaultValue Store store,
    @DefaultValue Cluster cluster) {

  enum StrategyName {
    /** A virtual thread while there is work. */
    FIBER(Strategy.FIBER),
    /** A virtual thread of its own. */
    RESIDENT_FIBER(Strategy.RESIDENT_FIBER),
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
   * @param overflow The rule for a message that finds the mailbox full.
   * @param maxWait A bounded mailbox is also full for a message that would wait longer.
   */
  record Mailbox(@Nullable Integer capacity, @DefaultValue("reject") Overflow overflow, @Nullable Duration maxWait) {
    io.fibry.mailbox.Mailbox<Object> mailbox() {
      var mailbox = capacity == null ? io.fibry.mailbox.Mailbox.unbounded()
          : io.fibry.mailbox.Mailbox.bounded(capacity, overflow);
      return maxWait == null ? mailbox : mailbox.withMaxWait(maxWait);
    }
  }

  /**
   * When a slow actor is logged.
   *
   * @param handlingLimit Longest time for one message; without it nothing is logged.
   * @param maxQueued Most waiting messages.
   */
  record Watchdog(@Nullable Duration handlingLimit, @DefaultValue("10000") int maxQueued) {}

  /**
   * Executors that are pools of fibers.
   *
   * @param tasks The executor of Async methods.
   * @param tomcat The executor of Tomcat's requests.
   */
  record Executor(@DefaultValue Tasks tasks, @DefaultValue Tomcat tomcat) {}

  /**
   * The executor of Async methods.
   *
   * @param enabled Whether it is a pool of fibers.
   * @param concurrency How many tasks run at once.
   * @param maxQueued How many tasks may wait; others are refused.
   */
  record Tasks(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("1024") int maxQueued) {}

  /**
   * The executor of Tomcat's requests.
   *
   * @param enabled Whether it is a pool of fibers.
   * @param concurrency How many requests run at once.
   * @param maxQueued How many requests may wait; other connections are closed.
   */
  record Tomcat(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("8192") int maxQueued) {}

  /**
   * Measurements besides counts.
   *
   * @param timers Whether waiting and handling are timed.
   */
  record Metrics(@DefaultValue("true") boolean timers) {}

  /**
   * How web clients see refusals.
   *
   * @param refusals Whether a full mailbox becomes a 503, and a late answer a 504.
   * @param retryAfter When a refused client may try again.
   */
  record Web(@DefaultValue("true") boolean refusals, @DefaultValue("1s") Duration retryAfter) {}

  /**
   * Where durable actors are kept.
   *
   * @param folder Folder of a store, open in one process at a time; by default none.
   */
  record Store(@Nullable String folder) {
    String checkedFolder() {
      if (folder == null || folder.isBlank())
        throw new IllegalArgumentException("fibry.store.folder is empty; name a folder, or leave the property out");
      return folder;
    }
  }

  /**
   * How this process joins others, if there is a network.
   *
   * @param servers URLs of servers of NATS, which make a network; by default none.
   * @param credentials File of credentials for these servers.
   * @param replicas On how many servers what is kept is stored.
   * @param app Name of all nodes together; by default the scope's.
   * @param node Name of this node, the same when it is started again; by default a new one.
   * @param lease After this time without a heartbeat, others declare the node dead; by default 6
   * seconds, or 20 with several replicas.
   * @param partitions Into how many parts keys are split; the same for all nodes, for ever.
   */
  record Cluster(@Nullable String servers, @Nullable String credentials, @DefaultValue("1") int replicas,
      @Nullable String app, @Nullable String node, @Nullable Duration lease,
      @DefaultValue("256") int partitions) {

    /** Without the servers and what belongs to them: their URLs may have a password. */
    @Override
    public String toString() {
      return "Cluster[app=" + app + ", node=" + node + ", lease=" + lease + ", parts=" + partitions + "]";
    }
  }

  ActorScope.Options applyTo(ActorScope.Options options) {
    var changed = options.withStrategy(strategy.strategy).withMailbox(mailbox.mailbox()).withAskLimit(askLimit)
        .withDrainLimit(drainLimit).withKillGrace(killGrace).withMessageContents(messageContents);
    return watchdog.handlingLimit == null ? changed : changed.withWatchdog(watchdog.handlingLimit, watchdog.maxQueued);
  }
}
