package io.fibry.bench;

import io.fibry.bench.CarrierQuestion.Caller;
import io.fibry.bench.PairedMeasurement.Workload;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Checks the promised ratios of Fibry's time to the time of a reference, which is measured in the
 * same process. Without arguments it checks all promises; {@code Budgets requests create} checks
 * two of them. The median ratio of three processes is judged. Exits with 1 if a promise is broken.
 */
public final class Budgets {
  private static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";
  private static final String PARALLEL_GC = "-XX:+UseParallelGC";
  private static final String CHILD_ARGUMENT = "--measure";
  private static final int PROCESSES = 3;

  /**
   * Our time divided by the time of the reference must be {@code maxRatio} or less. We want to
   * reach the {@code aim}, which is only printed.
   */
  record RatioBudget(String name, String operation, String reference, double maxRatio, double aim,
      int operations, Workload ourWork, Workload referenceWork, List<String> flags) {

    static RatioBudget named(String name) {
      return PROMISES.stream().filter(promise -> promise.name.equals(name)).findFirst()
          .orElseThrow(() -> new IllegalArgumentException(
              "no promise '" + name + "'; there are " + PROMISES.stream().map(RatioBudget::name).toList()));
    }

    PairedMeasurement.Result measure() throws Exception {
      double[] values = ChildJvm.measurements(flags, Budgets.class, CHILD_ARGUMENT, name);
      return new PairedMeasurement.Result(values[0], values[1], values[2], values[3]);
    }
  }

  static final List<RatioBudget> PROMISES = List.of(
      new RatioBudget("create", "create an actor", "start a virtual thread that parks", 0.15, 0.05, 200_000,
          ActorWorkloads::createSinks, ActorWorkloads::createParkedThreads, List.of()),
      new RatioBudget("messages-pekko", "a message, processed", "Pekko typed", 1 / 2.0, 1 / 3.0, 1_000_000,
          ActorWorkloads::messages, ActorWorkloads::messagesInPekko, List.of()),
      new RatioBudget("messages-g1", "a message, processed", "virtual thread + LinkedTransferQueue, G1", 1 / 1.3,
          1 / 2.0,
          1_000_000, ActorWorkloads::messages, ActorWorkloads::messagesThroughQueue, List.of()),
      new RatioBudget("messages-parallel", "a message, processed", "virtual thread + LinkedTransferQueue, Parallel GC",
          1 / 1.6, 1 / 2.0, 1_000_000, ActorWorkloads::messages, ActorWorkloads::messagesThroughQueue,
          List.of(PARALLEL_GC)),
      new RatioBudget("requests", "sendMessageReturn(i).get()", "start a virtual thread + join a future, one carrier",
          1.25,
          1.1, 100_000, ActorWorkloads::requests, ActorWorkloads::threadAndFuture, List.of(ONE_CARRIER)),
      new RatioBudget("asks", "ask(i), with its limit", "start a virtual thread + join a future, one carrier", 2.2, 1.5,
          100_000, ActorWorkloads::asks, ActorWorkloads::threadAndFuture, List.of(ONE_CARRIER)),
      new RatioBudget("asks-pekko", "ask(i), with its limit", "Pekko typed ask", 1 / 7.0, 1 / 7.0, 50_000,
          ActorWorkloads::asks, ActorWorkloads::asksInPekko, List.of()),
      new RatioBudget("hand-over-pekko", "a message that wakes the other actor", "Pekko typed", 1 / 1.5, 1 / 3.0,
          500_000,
          times -> PeerWorkloads.handOvers("fiber", times), times -> PeerWorkloads.handOvers("pekko", times),
          List.of()),
      new RatioBudget("timers", "a timer that sends", "JDK scheduler + single thread executor", 1.1, 1, 200_000,
          times -> PeerWorkloads.timers("fiber", times), times -> PeerWorkloads.timers("executor", times), List.of()),
      new RatioBudget("inline", "inline ask(i)", "lock and unlock of a ReentrantLock", 6, 3, 1_000_000,
          ActorWorkloads::inlineAsks, ActorWorkloads::lockedCounter, List.of()),
      new RatioBudget("pool-executor", "a task of a pool of four", "ThreadPoolExecutor with the same bound", 1.3, 1,
          200_000,
          PoolWorkloads::pool, PoolWorkloads::executorService, List.of()),
      new RatioBudget("pool-forkjoin", "a task of a pool of four", "ForkJoinPool with the same bound", 1.3, 1, 200_000,
          PoolWorkloads::pool, PoolWorkloads::forkJoinPool, List.of()),
      new RatioBudget("pool-threads", "a task of a pool of four", "a virtual thread per task, with the same bound", 1.3,
          1, 200_000,
          PoolWorkloads::pool, PoolWorkloads::threadPerTask, List.of()),
      new RatioBudget("pipeline", "a message through three stages", "a virtual thread per stage, bounded queues", 1.3,
          1,
          200_000, PoolWorkloads::pipeline, PoolWorkloads::virtualThreadsAndQueues, List.of()),
      new RatioBudget("priority", "a message by priority, all wait", "virtual thread + PriorityBlockingQueue", 4.5, 3,
          10_000, times -> PeerWorkloads.priority("fiber", times),
          times -> PeerWorkloads.priority("virtual-queue", times), List.of()),
      new RatioBudget("timers-cancelled", "a timer, set and cancelled", "Pekko typed", 1.5, 1 / 1.5, 100_000,
          times -> PeerWorkloads.cancelledTimers("fiber", times),
          times -> PeerWorkloads.cancelledTimers("pekko", times), List.of()),
      new RatioBudget("delayed-tasks", "a delayed task, in a pool of 5,000",
          "JDK scheduler + a virtual thread per task",
          1.9, 1, 200_000, PoolWorkloads::delayedTasksOfPool, PoolWorkloads::delayedVirtualThreads, List.of()),
      new RatioBudget("messages-mixed", "a message, processed, in a mixed process",
          "virtual thread + LinkedTransferQueue", 1 / 1.3, 1 / 1.6, 1_000_000,
          MixedWork.before(ActorWorkloads::messages),
          ActorWorkloads::messagesThroughQueue, List.of()),
      new RatioBudget("requests-mixed", "sendMessageReturn(i).get(), in a mixed process",
          "start a virtual thread + join a future, one carrier", 1.5, 1.25, 100_000,
          MixedWork.before(ActorWorkloads::requests), ActorWorkloads::threadAndFuture, List.of(ONE_CARRIER)),
      new RatioBudget("inline-mixed", "inline ask(i), in a mixed process", "lock and unlock of a ReentrantLock", 8, 3,
          1_000_000, MixedWork.before(ActorWorkloads::inlineAsks), ActorWorkloads::lockedCounter, List.of()),
      new RatioBudget("start", "processor time of a JVM with one actor", "a JVM with one virtual thread", 2.4, 1.3, 3,
          StartWorkloads::actors, StartWorkloads::virtualThreads, List.of()),
      onCarriers("carriers-ask", "ask(i) of an actor, on carriers", "two virtual threads, a queue and a future", 1,
          1 / 1.6, CarrierWorkloads::asksOfActor, CarrierWorkloads::queueAndFuture));

  private Budgets() {}

  /** Our work runs on carriers, and the reference on the JDK's scheduler of the same process. */
  private static RatioBudget onCarriers(String name, String operation, String reference, double maxRatio, double aim,
      Workload ourWork, Workload referenceWork) {
    return new RatioBudget(name, operation, reference, maxRatio, aim, 50_000,
        CarrierComparison.on(Caller.FIBER, ourWork), CarrierComparison.on(Caller.OTHER_THREAD, referenceWork),
        ChildJvm.ON_CARRIERS);
  }

  public static void main(String[] names) throws Exception {
    if (names.length == 2 && names[0].equals(CHILD_ARGUMENT)) {
      var promise = RatioBudget.named(names[1]);
      var result = PairedMeasurement.run(promise.ourWork, promise.referenceWork, promise.operations);
      ChildJvm.tell(result.ourNanos(), result.referenceNanos(), result.minRatio(), result.maxRatio());
      System.exit(0); // threads of Pekko may still run
    }
    var promises = names.length == 0 ? PROMISES : Arrays.stream(names).map(RatioBudget::named).toList();
    System.out.println("JDK " + Runtime.version() + ", " + Runtime.getRuntime().availableProcessors()
        + " processors; ratio = ours / reference, lower is better; three processes, the middle one judged");
    boolean areAllKept = true;
    var rows = new ArrayList<ResultRow>();
    for (var promise : promises) areAllKept &= judge(promise, rows);
    Result.here("budgets", "our cost divided by the reference's, in the middle one of three processes", rows).write();
    System.exit(areAllKept ? 0 : 1);
  }

  private static boolean judge(RatioBudget promise, List<ResultRow> rows) throws Exception {
    var results = new ArrayList<PairedMeasurement.Result>();
    for (int i = 0; i < PROCESSES; i++) results.add(promise.measure());
    results.sort(Comparator.comparingDouble(PairedMeasurement.Result::ratio));
    var median = results.get(PROCESSES / 2);
    boolean isKept = median.ratio() <= promise.maxRatio;
    System.out.printf(Locale.ROOT,
        "%-6s %-18s %-27s ratio %.3f (processes %.3f..%.3f; rounds %.3f..%.3f), must be <= %.3f, aim %.3f; %.1f "
            + "ns against %.1f ns for: %s%n",
        isKept ? "kept" : "BROKEN", promise.name, promise.operation, median.ratio(),
        results.getFirst().ratio(), results.getLast().ratio(), median.minRatio(), median.maxRatio(), promise.maxRatio,
        promise.aim,
        median.ourNanos(), median.referenceNanos(), promise.reference);
    rows.add(new ResultRow(promise.name + ": " + promise.operation, "x of " + promise.reference, median.ratio(),
        results.getFirst().ratio(), results.getLast().ratio(),
        String.format(Locale.ROOT, "at most %.3f, aim %.3f: %s", promise.maxRatio, promise.aim,
            isKept ? "kept" : "BROKEN"),
        0));
    return isKept;
  }
}
