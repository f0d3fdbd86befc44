package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.Strategy;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code fibry.*}.
 *
 * @param enabled Whether there is a scope of actors.
 * @param name Name of the scope; by default the name of the application.
 * @param strategy Which threads run an actor.
 * @param askLimit How long a caller of ask waits for the reply.
 * @param drainLimit How long a closing scope continues to handle messages.
 * @param killGrace How long an interrupted handler may take to end.
 * @param messageContents Whether logs, dumps and exceptions show the content of messages. If not,
 * they show only the class.
 * @param propagateContext Whether messages carry the context that the library context-propagation
 * captures, such as the observation.
 * @param mailbox The default mailbox.
 * @param watchdog When the watchdog logs a slow actor.
 * @param executor Executors that are pools of fibers.
 * @param metrics Which actors have meters, and whether times are measured.
 * @param web How web clients are notified that an actor refused a request or is late.
 * @param store Where the state of durable actors is stored.
 * @param cluster How this process joins a cluster.
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
    /** A virtual thread, only while the actor has messages. */
    FIBER(Strategy.FIBER),
    /** A virtual thread of its own. */
    RESIDENT_FIBER(Strategy.RESIDENT_FIBER),
    /** A platform thread of its own. */
    THREAD(Strategy.THREAD),
    /** The sender's thread. For tests. */
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
   * @param overflow The rule for a message that arrives while the mailbox is full.
   * @param maxWait Max waiting time of a message. A bounded mailbox counts as full for a message
   * that would wait longer.
   */
  record Mailbox(@Nullable Integer capacity, @DefaultValue("reject") Overflow overflow, @Nullable Duration maxWait) {
    io.fibry.mailbox.Mailbox<Object> mailbox() {
      var mailbox = capacity == null ? io.fibry.mailbox.Mailbox.unbounded()
          : io.fibry.mailbox.Mailbox.bounded(capacity, overflow);
      return maxWait == null ? mailbox : mailbox.withMaxWait(maxWait);
    }
  }

  /**
   * When the watchdog logs a slow actor.
   *
   * @param handlingLimit Max time to handle one message; without it, the watchdog is off.
   * @param maxQueued Max number of waiting messages.
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
   * @param maxQueued How many tasks may wait; further tasks are refused.
   */
  record Tasks(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("1024") int maxQueued) {}

  /**
   * The executor of Tomcat's requests.
   *
   * @param enabled Whether it is a pool of fibers.
   * @param concurrency How many requests run at once.
   * @param maxQueued How many requests may wait; connections of further requests are closed.
   */
  record Tomcat(@DefaultValue("false") boolean enabled, @DefaultValue("256") int concurrency,
      @DefaultValue("8192") int maxQueued) {}

  /**
   * Which actors have meters, and whether times are measured. Counts of scopes are always
   * available.
   *
   * @param timers Whether the waiting time and the handling time of messages are measured.
   * @param actors Actors with meters of their own: names, or beginnings of names that end in a
   * star. All other actors have common meters.
   * @param actorMeters Whether actors have meters, which the alerts on actors need.
   */
  record Metrics(@DefaultValue("true") boolean timers, @DefaultValue List<String> actors,
      @DefaultValue("true") boolean actorMeters) {}

  /**
   * How web clients are notified that an actor refused a request or is late.
   *
   * @param refusals Whether the response is 503 if a mailbox is full, and 504 if a reply is late.
   * @param retryAfter How long a refused client should wait before it tries again.
   */
  record Web(@DefaultValue("true") boolean refusals, @DefaultValue("1s") Duration retryAfter) {}

  /**
   * Where the state of durable actors is stored.
   *
   * @param folder Folder of a store, which only one process at a time can open; by default none.
   */
  record Store(@Nullable String folder) {
    String checkedFolder() {
      if (folder == null || folder.isBlank())
        throw new IllegalArgumentException("fibry.store.folder is empty; name a folder, or leave the property out");
      return folder;
    }
  }

  /**
   * How this process joins a cluster, if a network is available.
   *
   * @param servers URLs of the NATS servers that connect the nodes; by default none.
   * @param credentials File with the credentials for these servers; by default none.
   * @param replicas How many of these servers store each message.
   * @param app Name of the cluster, the same for all nodes; by default the name of the scope.
   * @param node Name of this node, which it has again after a restart; by default a new name.
   * @param lease After this time without a heartbeat, other nodes declare this node dead; by
   * default 6 seconds, or 20 with several replicas.
   * @param partitions Number of partitions of the keys; the same for all nodes, and never changed.
   */
  record Cluster(@Nullable String servers, @Nullable String credentials, @DefaultValue("1") int replicas,
      @Nullable String app, @Nullable String node, @Nullable Duration lease,
      @DefaultValue("256") int partitions) {

    /** Omits the settings of the NATS servers, because their URLs may contain a password. */
    @Override
    public String toString() {
      return "Cluster[app=" + app + ", node=" + node + ", lease=" + lease + ", partitions=" + partitions + "]";
    }
  }

  ActorScope.Options applyTo(ActorScope.Options options) {
    var result = options.withStrategy(strategy.strategy).withMailbox(mailbox.mailbox()).withAskLimit(askLimit)
        .withDrainLimit(drainLimit).withKillGrace(killGrace).withMessageContents(messageContents);
    return watchdog.handlingLimit == null ? result : result.withWatchdog(watchdog.handlingLimit, watchdog.maxQueued);
  }
}
