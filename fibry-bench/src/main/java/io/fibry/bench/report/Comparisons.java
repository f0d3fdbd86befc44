package io.fibry.bench.report;

import static io.fibry.bench.report.Side.other;
import static io.fibry.bench.report.Side.ours;
import static io.fibry.bench.report.Side.reference;

import java.util.List;

/**
 * Declares for each result its title, its sides and its base side. The name of a side does not say
 * whether the side is Fibry's, so that is declared, too.
 */
final class Comparisons {
  private static final String STRATEGY_PREFIX = "fibry, "; // of Fibry's sides; missing in JMH's parameter `who`

  private static final List<Side> PEERS = List.of(
      ours("fibry, fiber", "Fibry's default: an actor on virtual threads"),
      ours("fibry, sink", "Fibry's smallest actor: messages are code to run"),
      ours("fibry, future", "Fibry's default, asked without a time limit"),
      ours("fibry, thread", "Fibry: a platform thread for each actor"),
      ours("fibry, resident", "Fibry: a virtual thread for each actor, even idle"),
      ours("fibry, forkjoin", "Fibry on a ForkJoinPool: handlers never block"),
      ours("fibry, caller", "Fibry on the sender's own thread"),
      reference("floor", "to start a virtual thread and have its answer"),
      reference("park", "two virtual threads that unpark each other"),
      other("pekko", "Apache Pekko typed, in its default configuration"),
      other("pekko-tuned", "Apache Pekko typed, a thread per processor"),
      other("pojo-actor", "POJO-actor: a virtual thread for each object"),
      other("jox", "Jox: a channel and a virtual thread"),
      other("kotlin", "Kotlin: a channel and a coroutine"),
      reference("jctools", "JCTools: a queue and a virtual thread, no actor"),
      other("virtual-queue", "by hand: a virtual thread and a queue of the JDK"),
      other("platform-queue", "by hand: a platform thread and a queue of the JDK"),
      other("executor", "the JDK's executor: a platform thread for each"),
      other("executor-virtual", "a virtual thread for each message: no order"));

  private static final List<Side> STAGES = List.of(
      ours("pipeline", "Fibry's Pipeline: each stage is an actor"),
      ours("parallelStage", "Fibry's Pipeline, with two workers in its middle stage"),
      other("executors", "an executor of one platform thread for each stage"),
      other("forkJoinPool", "each step is a task of a ForkJoinPool: no order"),
      other("threadsAndQueues", "a platform thread for each stage, bounded queues"),
      other("virtualThreadsAndQueues", "a virtual thread for each stage, bounded queues"));

  private static final List<Side> POOLS = List.of(
      ours("fibers", "Fibry's pool: four workers on virtual threads"),
      ours("threads", "Fibry's pool: four workers on platform threads"),
      ours("byKey", "Fibry's pool by key: equal keys have the same worker"),
      ours("perMessage", "Fibry's pool without a bound: an actor for each message"),
      other("executorService", "the JDK's pool of four threads, with a bounded queue"),
      other("forkJoinPool", "the JDK's ForkJoinPool, behind a semaphore"),
      other("threadPerTask", "a virtual thread for each task, four at once"),
      other("threadPerTaskUnbounded", "a virtual thread for each task, without a bound"));

  private static final List<Side> INLINE = List.of(
      ours("inline", "Fibry: the asker's own thread handles the request"),
      ours("ordinary", "Fibry's default: the actor has a thread of its own"),
      reference("monitor", "a synchronized block: no actor"),
      reference("reentrantLock", "the JDK's ReentrantLock: no actor"));

  private static final List<Side> PROGRAMS = List.of(
      ours("fibry", "Fibry, in the form that a user would write"),
      ours("fibry-messages", "Fibry, without waiting for answers"),
      ours("fibry-inline", "Fibry: the asker's own thread handles a request"),
      ours("fibry-pool", "Fibry on a ForkJoinPool: no handler waits"),
      ours("fibry-carriers", "the form that a user would write, on carriers"),
      ours("fibry-messages-carriers", "on carriers, without waiting for answers"),
      ours("fibry-inline-carriers", "on carriers, inline requests"),
      other("pekko", "Apache Pekko typed, as its documentation recommends"),
      other("queues", "by hand: a virtual thread and a queue for each"),
      other("hand", "by hand: virtual threads that unpark each other"),
      other("hand-carriers", "by hand, on carriers"));

  private static final List<Side> CREATION = List.of(
      ours("fibry, fibers", "Fibry's smallest actor: no thread while it is idle"),
      ours("fibry, resident fibers", "Fibry's smallest actor, each with a virtual thread"),
      ours("fibry, platform threads", "Fibry's smallest actor, each with a platform thread"),
      other("by hand: virtual threads, parked", "virtual threads that only wait"),
      other("by hand: platform threads, parked", "platform threads that only wait"));

  private static final List<Side> SCOPED_ACTORS = List.of(
      ours("fibry, in a scope", "Fibry's default, without a name"),
      ours("fibry, with a name", "Fibry's default, in a scope"),
      ours("fibry, with a name, restarted and watched", "Fibry's default, with a failure policy and a watcher"),
      other("pekko, a child", "Apache Pekko typed: spawned without a name"),
      other("pekko, with a name", "Apache Pekko typed: spawned below an actor"),
      other("pekko, with a name, restarted and watched", "Apache Pekko typed: supervised, and watched by its parent"));

  private static final List<Side> RATES = List.of(
      ours("fibry, fibers", "Fibry's default: an actor on virtual threads, none while idle"),
      ours("fibry, resident fibers", "Fibry: an actor that keeps its virtual thread"),
      ours("fibry, platform threads", "Fibry: an actor that has a platform thread"),
      other("by hand: virtual threads and a queue", "virtual threads send and receive"),
      other("by hand: platform threads and a queue", "platform threads send and receive"));

  private static final List<Side> SWITCHES = List.of(
      ours("fibry, fibers", "Fibry's default: actors on virtual threads, none while idle"),
      ours("fibry, resident fibers", "Fibry: actors that keep their virtual threads"),
      ours("fibry, platform threads", "Fibry: actors that have platform threads"),
      other("by hand: two virtual threads, queue and future", "one asks by a queue, one answers by futures"),
      other("by hand: two platform threads, queue and future", "one asks by a queue, one answers by futures"));

  private static final List<Side> CALLS = List.of(
      ours("fibry, in parallel, an actor for each call", "Fibry's default: actors on virtual threads"),
      ours("fibry, in sequence, one actor", "Fibry's default: an actor on virtual threads"),
      other("by hand: in sequence, blocking, a platform thread", "the JDK's HttpClient.send"),
      other("by hand: in parallel, 16 platform threads", "the JDK's HttpClient.send in an executor"),
      other("by hand: in parallel, HttpClient.sendAsync", "the JDK's asynchronous calls: no thread waits"));

  private static final List<Side> SERVICES = List.of(
      ours("fibry, 4 workers, mailbox 1000 REJECT within 100 ms",
          "Fibry's pool refuses what would wait longer"),
      ours("fibry, 4 workers, mailbox 16 REJECT", "Fibry's pool refuses when 16 wait"),
      ours("fibry, 4 platform threads, mailbox 16 REJECT", "the same pool on platform threads"),
      other("by hand: 200 platform threads share the connections", "no request is refused"),
      other("by hand: virtual threads share the connections", "no request is refused"));

  private static final List<Side> SCHEDULERS = List.of(
      ours(CarrierPage.CARRIERS, "Fibry's default, on the carriers of fibry-carriers"),
      ours(CarrierPage.JDK, "Fibry's default, on the JDK's scheduler of virtual threads"),
      other("pekko-tuned", "Apache Pekko typed, a thread per processor"),
      other("kotlin", "Kotlin: a channel and a coroutine"),
      other("virtual-queue", "by hand: a virtual thread and a queue of the JDK"),
      other("queue-and-future", "by hand: two virtual threads, a queue and futures"),
      other("executor", "the JDK's pool of four threads, with a bounded queue"),
      other("stages", "a virtual thread for each stage, bounded queues"),
      other("virtual-threads", "by hand: a virtual thread for each"));

  private static final String STEPS = "step; the loads are 0.5, 0.8, 1.2, 2, 3, 0.8 and 0.8 times the capacity";

  private static final List<Comparison> ALL = List.of(
      Comparison.of("jmh-Activation-message", "A message to an idle actor", PEERS, "fibry, fiber"),
      Comparison.of("jmh-BackPressure-message-capacity-(\\d+)", "A message, with space for $1", PEERS,
          "fibry, fiber"),
      Comparison.of("jmh-Creation-made", "An actor, made but never used", PEERS, "fibry, sink"),
      Comparison.of("jmh-Creation-madeAndAtWork", "An actor, made, and its first message handled", PEERS,
          "fibry, sink"),
      Comparison.of("jmh-FanOut-message", "A message, from one sender to 16 actors in turn", PEERS, "fibry, fiber"),
      Comparison.of("jmh-InlineRequest", "A request that the asker's own thread may handle", INLINE, "inline"),
      Comparison.of("jmh-ManyToOne-message-senders-(\\d+)", "A message, from $1 senders to one actor", PEERS,
          "fibry, fiber"),
      Comparison.of("jmh-OneToOne-message", "A message, from one sender to one actor", PEERS, "fibry, fiber"),
      Comparison.of("jmh-PingPong-hit", "A hand-over between two actors", PEERS, "fibry, fiber"),
      Comparison.of("jmh-PipelineStages", "A message through three stages", STAGES, "pipeline"),
      Comparison.of("jmh-PoolTasks-work-0", "An empty task, done by one of four workers", POOLS, "fibers"),
      Comparison.of("jmh-PoolTasks-work-(\\d+)", "A task of $1 steps, done by one of four workers", POOLS, "fibers"),
      Comparison.of("jmh-Priority-message", "A message by priority, where ten thousand wait", PEERS, "fibry, fiber"),
      Comparison.of("jmh-Request-fromVirtual", "A request from a virtual thread", PEERS, "fibry, fiber"),
      Comparison.of("jmh-Request-fromPlatform", "A request from a platform thread", PEERS, "fibry, fiber"),
      Comparison.of("jmh-Request-onOneCarrier", "A request from a virtual thread, on one carrier", PEERS,
          "fibry, fiber"),
      Comparison.of("jmh-Timers-fired", "A message sent later, and handled", PEERS, "fibry, fiber"),
      Comparison.of("jmh-Timers-cancelled", "A message sent later, and cancelled", PEERS, "fibry, fiber"),

      Comparison.of("savina-(.+)", "A whole program: $1", PROGRAMS, "fibry"),
      Comparison.of("idle-made", "Heap of an idle actor that has handled no message", PEERS, "fibry, sink"),
      Comparison.of("idle-worked", "Heap of an idle actor that has handled a message", PEERS, "fibry, sink"),
      Comparison.of("scoped-heap", "Heap of an idle actor in a scope", SCOPED_ACTORS, "fibry, with a name"),
      Comparison.of("scoped-made", "To make one of many actors in a scope", SCOPED_ACTORS, "fibry, with a name"),
      Comparison.of("scoped-ended", "To end one of many idle actors by closing their scope", SCOPED_ACTORS,
          "fibry, with a name"),
      Comparison.of("creation", "To create an actor among many, and keep it", CREATION, "fibry, fibers"),
      Comparison.of("creation-and-work", "To create an actor among many, keep it, and run one task on it",
          CREATION, "fibry, fibers"),
      Comparison.of("messages-1", "Messages to one actor, from one sender", RATES, "fibry, fibers"),
      Comparison.of("messages-(\\d+)", "Messages to one actor, from $1 senders at once", RATES,
          "fibry, fibers"),
      Comparison.of("switches", "Requests from one actor to another, one after the other", SWITCHES,
          "fibry, fibers"),
      Comparison.of("slow-calls-(\\d+)-(\\d+)", "100 slow HTTP calls per caller; processors: $1, callers: $2", CALLS,
          "fibry, in parallel, an actor for each call"),
      Comparison.of("sql", "Answers in time, while the load rises and falls", SERVICES,
          "fibry, 4 workers, mailbox 1000 REJECT within 100 ms").withSizes(STEPS),
      Comparison.of("sql-latency", "How long 99 of 100 answers took at most, in the same steps", SERVICES,
          "fibry, 4 workers, mailbox 1000 REJECT within 100 ms").withSizes(STEPS),

      Comparison.of("carriers(-.+)?", "Fibry on two schedulers of virtual threads", SCHEDULERS, CarrierPage.CARRIERS)
          .withSizes("microseconds of work"),
      Comparison.of("blocking", "Calls that block for 100 ms", List.of(
          ours("fibry, a fiber for each", "Fibry's pool: an actor on a virtual thread for each call"),
          ours("fibry, pool of 64 platform threads", "Fibry's pool on platform threads"),
          ours("fibry, pool of 200 platform threads", "Fibry's pool on platform threads"),
          other("by hand: a virtual thread for each", "threads of the JDK"),
          other("by hand: a virtual thread for each, with our promises", "threads of the JDK, with counts and reports"),
          other("by hand: newFixedThreadPool(64)", "the JDK's executor on platform threads")),
          "fibry, a fiber for each"),
      Comparison.of("delays", "Tasks that begin after a delay", List.of(
          ours("fibry, timers of a pool of 5,000 fibers, 1 s", "Fibry's pool: at most 5,000 run at once"),
          ours("fibry, a timer and a new fiber for each task, 1 s",
              "Fibry's pool without a bound: a fiber for each task"),
          ours("fibry, timers of one actor, 1 s", "Fibry: one actor runs all tasks"),
          other("by hand: scheduler and virtual threads, 1 s", "the JDK's scheduler starts a thread for each task"),
          other("by hand: scheduler and 64 platform threads, 1 s", "the JDK's scheduler, and its executor"),
          ours("fibry, timers of a pool of 5,000 fibers, 100 ms", "Fibry's pool: at most 5,000 run at once"),
          other("by hand: scheduler and 64 platform threads, 100 ms", "the JDK's scheduler, and its executor")),
          "fibry, timers of a pool of 5,000 fibers, 1 s", "fibry, timers of a pool of 5,000 fibers, 100 ms")
          .withSizes("tasks"),
      Comparison.of("file-reads", "Programs that read files and compute", List.of(
          ours("fibry, reads on fibers, a pool computes", "two pools of Fibry"),
          ours("fibry, all in one pool of platform threads", "one pool of Fibry, a thread per processor")),
          "fibry, reads on fibers, a pool computes").withSizes("percentage of tasks that read a file"),
      Comparison.of("growth", "What one costs among many", List.of(
          ours("fibry, an actor", "created and kept"),
          ours("fibry, a message", "sent and handled, when all of them wait at once"),
          ours("fibry, a request", "answered beside as many idle actors"),
          other("by hand: a parked virtual thread", "started and kept, as the actor is")),
          "fibry, an actor", "fibry, a message", "fibry, a request").withSizes("how many there are"),
      Comparison.of("hooks", "Asynchronous hooks that take a second each", List.of(
          ours("fibry, fibers", "Fibry's hooks, on virtual threads"),
          ours("fibry, fibers, most memory of the process", "at its peak"),
          ours("fibry, pool of 200 platform threads", "Fibry's hooks, on a pool of platform threads"),
          ours("fibry, pool of 200 platform threads, most memory of the process", "at its peak"),
          ours("fibry, a platform thread each", "Fibry's hooks, on platform threads"),
          ours("fibry, a platform thread each, most memory of the process", "at its peak")),
          "fibry, fibers", "fibry, fibers, most memory of the process"),
      Comparison.of("live", "Live actors on fibers, each of which has run one task", List.of(
          ours("fibry, heap with the array that holds them", "for each actor"),
          ours("fibry, to create one", "for each actor"),
          ours("fibry, to have it work once", "for each actor")),
          "fibry, heap with the array that holds them", "fibry, to create one").withSizes("live actors"),
      Comparison.of("live-in-heap", "Alive at once in a heap that is nine tenths full", List.of(
          ours("fibry, actors on fibers", "Fibry's default: no thread while idle"),
          other("by hand: virtual threads, parked", "virtual threads that only wait"),
          other("by hand: platform threads, parked", "at most 10,000 are tried")),
          "fibry, actors on fibers"),
      Comparison.of("load-closing", "A server that answers and closes, under ab", List.of(
          ours("fibry acceptor", "Fibry's tcpAcceptor on fibers"),
          ours("fibry acceptor-threads", "Fibry's tcpAcceptor on platform threads"),
          other("loop", "by hand: a loop that accepts, and virtual threads"),
          other("loop-buffered", "the same loop, with a buffer"),
          other("go", "a server in Go")),
          "fibry acceptor"),
      Comparison.of("load-keeping", "A server that keeps the connection, under wrk", List.of(
          ours("fibry acceptor-keep", "Fibry's tcpAcceptor on fibers"),
          other("loop-keep", "by hand: a loop that accepts, and virtual threads"),
          other("go-keep", "a server in Go")),
          "fibry acceptor-keep"),
      Comparison.of("load-http", "A server that answers HTTP, under wrk", List.of(
          ours("fibry http", "Fibry's embeddedHttpServer"),
          other("jdk-http", "the JDK's HttpServer, on virtual threads")),
          "fibry http"),
      Comparison.of("load-https", "A server that answers HTTPS, under wrk", List.of(
          ours("fibry https", "Fibry's embeddedHttpServer, with TLS"),
          ours("fibry http", "the same without TLS"),
          other("jdk-https", "the JDK's HttpsServer, on virtual threads")),
          "fibry https"),

      Comparison.of("durable-one", "One asker and one durable actor", List.of(
          ours("fibry, a durable actor is asked", "its answer leaves when its turn is on disk"),
          ours("fibry, a message is stored first", "sendMessage returns when it is on disk; then it is handled"),
          ours("fibry, an actor in memory is asked", "nothing is stored"),
          reference("by hand: one thread writes and syncs 256 bytes", "into a file of zeros: what a disk can do")),
          "fibry, a durable actor is asked"),
      Comparison.of("durable-many", "1,024 askers of durable actors, where a sync takes 2 ms", List.of(
          ours("fibry, an actor for each", "1,024 durable actors share the syncs"),
          ours("fibry, one actor for all", "its turns run ahead of the disk, and share the syncs"),
          ours("fibry, one actor for all, maxUnstoredTurns(1)", "each turn waits until the one before is on disk"),
          ours("fibry, an actor for each, messages are stored first", "both the message and its turn are stored"),
          reference("by hand: one thread writes and syncs 256 bytes", "into a file of zeros: what a disk can do")),
          "fibry, an actor for each"),
      Comparison.of("durable-appends", "Durable appends of 200 bytes", List.of(
          ours("fibry, a folder", "Fibry's FolderStore, with its own journal"),
          other("rocksdb", "RocksDB, a synced write of each batch"),
          other("sqlite", "SQLite, a transaction for each batch, write-ahead log"),
          other("mvstore", "H2's MVStore, committed and synced for each batch")),
          "fibry, a folder").withSizes("virtual threads that append"),
      Comparison.of("durable-opening", "To open a store with a million turns", List.of(
          ours("fibry, a store is opened", "checks all of it, and makes the index"),
          reference("by hand: its files are read", "from the cache of the system, and nothing is done with them")),
          "fibry, a store is opened"),
      Comparison.of("durable-heap", "Heap of a key of a durable actor that is not loaded", List.of(
          ours("fibry, a key after passivation", "its actor has worked in this process"),
          ours("fibry, a key after opening", "no actor was made in this process"),
          reference("by hand: a ConcurrentHashMap from key to number", "nothing more")),
          "fibry, a key after passivation"),
      Comparison.of("durable-sleep", "Heap of a handler that sleeps for a day", List.of(
          ours("fibry, a durable handler sleeps", "the time is stored; the handler continues after a crash"),
          ours("fibry, a durable handler sleeps after a restart", "the message was read from the store"),
          ours("fibry, a handler of an actor in memory sleeps", "nothing is stored"),
          reference("by hand: a virtual thread is parked, ten frames deep", "the JDK's part: a thread and its stack")),
          "fibry, a durable handler sleeps"),
      Comparison.of("durable-stalls", "How long other virtual threads are held up at worst", List.of(
          ours("fibry, 1,024 durable actors are asked", "the disk is busy"),
          ours("fibry, 1,024 actors in memory are asked", "nothing is stored")),
          "fibry, 1,024 durable actors are asked"),
      Comparison.of("durable-plain", "A request to an actor in memory, with durable actors on the class path", List.of(
          ours("fibry, fibry-durable is on the class path", "none of its classes is loaded"),
          ours("fibry, fibry-durable is not on the class path", "only the library is")),
          "fibry, fibry-durable is on the class path"));

  private Comparisons() {}

  /** Returns the declaration of a result; throws if there is none. */
  static Comparison of(String result) {
    return ALL.stream().filter(comparison -> comparison.covers(result)).findFirst()
        .orElseThrow(() -> new IllegalStateException("nothing is declared for the result '" + result
            + "'; say in Comparisons what it compares, which sides are ours, and which of them is the base"));
  }

  /** Returns whether the result has promises, or its comparison is declared. */
  static boolean isDeclared(String result) {
    return Result.isPromise(result) || ALL.stream().anyMatch(comparison -> comparison.covers(result));
  }

  static List<Comparison> all() {
    return ALL;
  }

  /** Returns the name of the side for a value of JMH's parameter {@code who}. */
  static String peer(String value) {
    return PEERS.stream().map(Side::name).filter((STRATEGY_PREFIX + value)::equals).findFirst().orElse(value);
  }
}
