package io.fibry.bench;

import io.fibry.bench.report.Result;
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
  private record Row(String name, String what, String reference, double most, double aim, int times, Duel.Side ours,
      Duel.Side theirs, List<String> flags) {}

  private static final List<Row> ROWS = List.of(
      new Row("create", "create an actor", "start a virtual thread that parks", 0.15, 0.05, 200_000, Sides::createSinks,
          Sides::createParkedThreads, List.of()),
      new Row("messages-pekko", "a message, processed", "Pekko typed", 1 / 2.0, 1 / 3.0, 1_000_000, Sides::messages,
          Sides::messagesInPekko, List.of()),
      new Row("messages-g1", "a message, processed", "virtual thread + LinkedTransferQueue, G1", 1 / 1.3, 1 / 2.0,
          1_000_000, Sides::messages, Sides::messagesThroughQueue, List.of()),
      new Row("messages-parallel", "a message, processed", "virtual thread + LinkedTransferQueue, Parallel GC", 1 / 1.6,
          1 / 2.0, 1_000_000, Sides::messages, Sides::messagesThroughQueue, List.of(PARALLEL)),
      new Row("requests", "sendMessageReturn(i).get()", "start a virtual thread + join a future, one carrier", 1.25,
          1.1, 100_000, Sides::requests, Sides::threadAndFuture, List.of(ONE_CARRIER)),
      new Row("asks", "ask(i), with its limit", "start a virtual thread + join a future, one carrier", 2.2, 1.5,
          100_000, Sides::asks, Sides::threadAndFuture, List.of(ONE_CARRIER)),
      new Row("asks-pekko", "ask(i), with its limit", "Pekko typed ask", 1 / 7.0, 1 / 7.0, 50_000, Sides::asks,
          Sides::asksInPekko, List.of()),
      new Row("inline", "inline ask(i)", "lock and unlock of a ReentrantLock", 6, 3, 1_000_000, Sides::inlineAsks,
          Sides::lockedCounter, List.of()),
      new Row("pool-executor", "a task of a pool of four", "ThreadPoolExecutor, as bounded", 1.3, 1, 200_000,
          Crews::pool, Crews::executorService, List.of()),
      new Row("pool-forkjoin", "a task of a pool of four", "ForkJoinPool, as bounded", 1.3, 1, 200_000, Crews::pool,
          Crews::forkJoinPool, List.of()),
      new Row("pool-threads", "a task of a pool of four", "a virtual thread per task, as bounded", 1.3, 1, 200_000,
          Crews::pool, Crews::threadPerTask, List.of()),
      new Row("pipeline", "a message through three stages", "a virtual thread per stage, bounded queues", 1.3, 1,
          200_000, Crews::pipeline, Crews::virtualThreadsAndQueues, List.of()));

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
    var rows = names.length == 0 ? ROWS : Arrays.stream(names).map(Budgets::row).toList();
    System.out.println("JDK " + Runtime.version() + ", " + Runtime.getRuntime().availableProcessors()
        + " processors; ratio = ours / reference, lower is better; three processes, the middle one judged");
    boolean kept = true;
    var judged = new ArrayList<io.fibry.bench.report.Row>();
    for (var row : rows) kept &= judge(row, judged);
    System.out.println("written: " + Result
        .here("budgets", "what is promised: our cost divided by the reference's, the middle of three processes", judged)
        .write(Path.of(System.getProperty("results", "target/results"))).toAbsolutePath());
    System.exit(kept ? 0 : 1);
  }

  private static Row row(String name) {
    return ROWS.stream().filter(row -> row.name.equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "no row '" + name + "'; there are " + ROWS.stream().map(Row::name).toList()));
  }

  private static Duel.Result duel(Row row) throws Exception {
    return Duel.run(row.ours, row.theirs, row.times);
  }

  private static boolean judge(Row row, List<io.fibry.bench.report.Row> judged) throws Exception {
    var results = new ArrayList<Duel.Result>();
    for (int i = 0; i < PROCESSES; i++) results.add(inProcess(row));
    results.sort(Comparator.comparingDouble(Duel.Result::ratio));
    var middle = results.get(PROCESSES / 2);
    boolean kept = middle.ratio() <= row.most;
    System.out.printf(Locale.ROOT,
        "%-6s %-18s %-27s ratio %.3f (processes %.3f..%.3f; rounds %.3f..%.3f), must be <= %.3f, aim %.3f; %.1f "
            + "ns against %.1f ns for: %s%n",
        kept ? "kept" : "BROKEN", row.name, row.what, middle.ratio(),
        results.getFirst().ratio(), results.getLast().ratio(), middle.least(), middle.most(), row.most, row.aim,
        middle.ours(), middle.reference(), row.reference);
    judged.add(new io.fibry.bench.report.Row(row.name + ": " + row.what, "x of " + row.reference, middle.ratio(),
        results.getFirst().ratio(), results.getLast().ratio(),
        String.format(Locale.ROOT, "at most %.3f, aim %.3f: %s", row.most, row.aim, kept ? "kept" : "BROKEN"), 0));
    return kept;
  }

  private static Duel.Result inProcess(Row row) throws IOException, InterruptedException {
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
    return new Duel.Result(numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}
