package io.fibry.bench;

import io.fibry.bench.report.Result;
import io.fibry.bench.report.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The figures that Fibry promises, each as a ratio to a reference measured in the same process: the
 * two sides take turns, medians are compared, in three processes, of which the middle one is
 * judged. Exits with 1 if a promise is broken. {@code Budgets requests messages-g1} checks only
 * these rows.
 */
public final class Budgets {
  private static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";
  private static final String PARALLEL = "-XX:+UseParallelGC";
  private static final int PROCESSES = 3;

  /** One promise: our cost divided by the reference's is at most so much. */
  private record Promise(String name, String what, String reference, double most, double aim, int times,
      PairedMeasurement.Workload ours,
      PairedMeasurement.Workload theirs, List<String> flags) {}

  private static final List<Promise> PROMISES = List.of(
      new Promise("create", "create an actor", "start a virtual thread that parks", 0.15, 0.05, 200_000,
          ActorWorkloads::createSinks,
          ActorWorkloads::createParkedThreads, List.of()),
      new Promise("messages-pekko", "a message, processed", "Pekko typed", 1 / 2.0, 1 / 3.0, 1_000_000,
          ActorWorkloads::messages,
          ActorWorkloads::messagesInPekko, List.of()),
      new Promise("messages-g1", "a message, processed", "virtual thread + LinkedTransferQueue, G1", 1 / 1.3, 1 / 2.0,
          1_000_000, ActorWorkloads::messages, ActorWorkloads::messagesThroughQueue, List.of()),
      new Promise("messages-parallel", "a message, processed", "virtual thread + LinkedTransferQueue, Parallel GC",
          1 / 1.6,
          1 / 2.0, 1_000_000, ActorWorkloads::messages, ActorWorkloads::messagesThroughQueue, List.of(PARALLEL)),
      new Promise("requests", "sendMessageReturn(i).get()", "start a virtual thread + join a future, one carrier", 1.25,
          1.1, 100_000, ActorWorkloads::requests, ActorWorkloads::threadAndFuture, List.of(ONE_CARRIER)),
      new Promise("asks", "ask(i), with its limit", "start a virtual thread + join a future, one carrier", 2.2, 1.5,
          100_000, ActorWorkloads::asks, ActorWorkloads::threadAndFuture, List.of(ONE_CARRIER)),
      new Promise("asks-pekko", "ask(i), with its limit", "Pekko typed ask", 1 / 7.0, 1 / 7.0, 50_000,
          ActorWorkloads::asks,
          ActorWorkloads::asksInPekko, List.of()),
      new Promise("inline", "inline ask(i)", "lock and unlock of a ReentrantLock", 6, 3, 1_000_000,
          ActorWorkloads::inlineAsks,
          ActorWorkloads::lockedCounter, List.of()),
      new Promise("pool-executor", "a task of a pool of four", "ThreadPoolExecutor, as bounded", 1.3, 1, 200_000,
          PoolWorkloads::pool, PoolWorkloads::executorService, List.of()),
      new Promise("pool-forkjoin", "a task of a pool of four", "ForkJoinPool, as bounded", 1.3, 1, 200_000,
          PoolWorkloads::pool,
          PoolWorkloads::forkJoinPool, List.of()),
      new Promise("pool-threads", "a task of a pool of four", "a virtual thread per task, as bounded", 1.3, 1, 200_000,
          PoolWorkloads::pool, PoolWorkloads::threadPerTask, List.of()),
      new Promise("pipeline", "a message through three stages", "a virtual thread per stage, bounded queues", 1.3, 1,
          200_000, PoolWorkloads::pipeline, PoolWorkloads::virtualThreadsAndQueues, List.of()));

  private Budgets() {}

  /**
   * Checks the promises.
   *
   * @param names of the rows, or none for all
   * @throws Exception if a process cannot be run
   */
  public static void main(String[] names) throws Exception {
    if (names.length == 2 && names[0].equals("--duel")) {
      var result = duel(row(names[1]));
      System.out
          .println("RESULT " + result.ours() + " " + result.reference() + " " + result.least() + " " + result.most());
      System.exit(0); // Pekko's threads would keep it
    }
    var rows = names.length == 0 ? PROMISES : Arrays.stream(names).map(Budgets::row).toList();
    System.out.println("JDK " + Runtime.version() + ", " + Runtime.getRuntime().availableProcessors()
        + " processors; ratio = ours / reference, lower is better; three processes, the middle one judged");
    boolean kept = true;
    var judged = new ArrayList<Row>();
    for (var row : rows) kept &= judge(row, judged);
    Result.here("budgets", "our cost divided by the reference's, in the middle one of three processes", judged).write();
    System.exit(kept ? 0 : 1);
  }

  private static Promise row(String name) {
    return PROMISES.stream().filter(row -> row.name.equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "no row '" + name + "'; there are " + PROMISES.stream().map(Promise::name).toList()));
  }

  private static PairedMeasurement.Result duel(Promise row) throws Exception {
    return PairedMeasurement.run(row.ours, row.theirs, row.times);
  }

  private static boolean judge(Promise row, List<Row> judged) throws Exception {
    var results = new ArrayList<PairedMeasurement.Result>();
    for (int i = 0; i < PROCESSES; i++) results.add(inProcess(row));
    results.sort(Comparator.comparingDouble(PairedMeasurement.Result::ratio));
    var middle = results.get(PROCESSES / 2);
    boolean kept = middle.ratio() <= row.most;
    System.out.printf(Locale.ROOT,
        "%-6s %-18s %-27s ratio %.3f (processes %.3f..%.3f; rounds %.3f..%.3f), must be <= %.3f, aim %.3f; %.1f "
            + "ns against %.1f ns for: %s%n",
        kept ? "kept" : "BROKEN", row.name, row.what, middle.ratio(),
        results.getFirst().ratio(), results.getLast().ratio(), middle.least(), middle.most(), row.most, row.aim,
        middle.ours(), middle.reference(), row.reference);
    judged.add(new Row(row.name + ": " + row.what, "x of " + row.reference, middle.ratio(),
        results.getFirst().ratio(), results.getLast().ratio(),
        String.format(Locale.ROOT, "at most %.3f, aim %.3f: %s", row.most, row.aim, kept ? "kept" : "BROKEN"), 0));
    return kept;
  }

  private static PairedMeasurement.Result inProcess(Promise row) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path")));
    command.addAll(row.flags);
    command.addAll(List.of(Budgets.class.getName(), "--duel", row.name));
    var process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String printed = new String(process.getInputStream().readAllBytes());
    int exit = process.waitFor();
    var result = printed.lines().filter(line -> line.startsWith("RESULT ")).findFirst().orElseThrow(
        () -> new IllegalStateException("row '" + row.name + "' failed with exit code " + exit + ": " + printed));
    double[] numbers = Arrays.stream(result.substring(7).split(" ")).mapToDouble(Double::parseDouble).toArray();
    return new PairedMeasurement.Result(numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}
