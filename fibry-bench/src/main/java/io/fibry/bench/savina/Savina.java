package io.fibry.bench.savina;

import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.ResultRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Runs programs modeled on the Savina actor benchmarks. The arguments are names of programs, for
 * example {@code skynet big}; without arguments all run. The sides take turns in each of three
 * processes, {@code -Drounds} times after a warm-up, and each run checks its result. Writes
 * {@code target/savina.json}, and exits with 1 if a side failed.
 *
 * <p>{@code fibry} is the form that a user would write, and {@code fibry-messages} does not wait
 * for answers. In {@code fibry-inline}, idle actors handle requests on the asker's thread.
 * {@code fibry-pool} runs on a {@code ForkJoinPool}; its handlers never wait. {@code queues} has a
 * virtual thread and a {@code LinkedTransferQueue} for each actor. {@code hand} is written without
 * a library, and its threads park and unpark each other ({@link HandActor}). The sides on carriers
 * run in three more processes, each after a process of the other sides. Most sizes are larger than
 * in Savina, so that the code is compiled before a run ends.
 */
public final class Savina {
  private static final String CHILD_ARGUMENT = "--process";
  private static final String CHILD_ON_CARRIERS = "--process-on-carriers";
  private static final int PROCESSES = 3;
  private static final int WARM_UP = 3;
  private static final int ROUNDS = Integer.getInteger("rounds", 7);
  private static final Path FILE = Path.of("target", "savina.json");

  static final List<SavinaProgram> PROGRAMS = List.of(
      PingPong.program(1_000_000),
      Counting.program(5_000_000),
      ThreadRing.program(100, 1_000_000),
      ForkJoinCreate.program(400_000),
      ForkJoinThroughput.program(60, 100_000),
      Big.program(120, 10_000),
      Chameneos.program(100, 400_000),
      Philosophers.program(20, 20_000),
      Banking.program(1_000, 200_000),
      Sieve.program(200_000, 1_000),
      Skynet.program(1_000_000));

  private Savina() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 2 && args[0].equals(CHILD_ARGUMENT)) {
      takeTurns(program(args[1]));
      System.exit(0); // ends the process even if a failed side has left a thread that hangs
    }
    if (args.length == 2 && args[0].equals(CHILD_ON_CARRIERS)) {
      takeTurns(program(args[1]).onCarriers());
      System.exit(0); // ends the process even if a failed side has left a thread that hangs
    }
    var programs = args.length == 0 ? PROGRAMS : Arrays.stream(args).map(Savina::program).toList();
    System.out.printf(Locale.ROOT,
        "JDK %s, %d processors; %d rounds in each of %d processes; median (min..max) of all runs; the ratio is the "
            + "median of the processes, and a lower ratio is better for Fibry%n",
        Runtime.version(),
        Runtime.getRuntime().availableProcessors(), ROUNDS, PROCESSES);
    boolean allMeasured = true;
    var jsonRows = new ArrayList<String>();
    for (var program : programs) {
      var timesBySide = measure(program);
      allMeasured &= timesBySide.keySet()
          .containsAll(allSides(program).map(SavinaProgram.ProgramSide::name).toList());
      timesBySide.forEach((side, timesByProcess) -> {
        print(side, timesByProcess, timesBySide.get(program.sides().getFirst().name()));
        jsonRows.add(json(program, side, sortedTimes(timesByProcess)));
      });
      Files.createDirectories(FILE.getParent());
      Files.writeString(FILE, "[\n" + String.join(",\n", jsonRows) + "\n]\n");
    }
    System.out.println("written: " + FILE.toAbsolutePath());
    System.exit(allMeasured ? 0 : 1);
  }

  private static SavinaProgram program(String name) {
    return PROGRAMS.stream().filter(program -> program.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "no program '" + name + "'; there are " + PROGRAMS.stream().map(SavinaProgram::name).toList()));
  }

  // ---- in the child process; each round begins with another side

  private static void takeTurns(SavinaProgram program) {
    var sides = new ArrayList<>(program.sides());
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      for (var side : List.copyOf(sides)) {
        try {
          System.gc(); // no side pays for the garbage of another
          long nanos = program.measureNanos(side);
          if (round >= 0) System.out.println("TOOK " + side.name() + " " + nanos / 1e6);
        } catch (Throwable failure) {
          System.out.println("FAILED " + side.name() + " " + failure);
          sides.remove(side);
        }
      }
      if (!sides.isEmpty()) sides.add(sides.removeFirst());
      System.out.println("ROUND");
    }
  }

  // ---- in the parent process

  /**
   * Runs the program in all processes. Returns the sorted times of each side that never failed: an
   * array of milliseconds for each process.
   */
  private static Map<String, List<double[]>> measure(SavinaProgram program) throws IOException, InterruptedException {
    System.out.print("\n" + program.name() + ", " + program.size() + " ");
    var outputs = new ArrayList<List<String>>();
    for (int i = 0; i < PROCESSES; i++)
      outputs.add(Stream.concat(runInProcess(program, List.of(), CHILD_ARGUMENT).stream(),
          runInProcess(program, ChildJvm.ON_CARRIERS, CHILD_ON_CARRIERS).stream()).toList());
    System.out.println();
    var failures = outputs.stream().flatMap(List::stream).filter(line -> line.startsWith("FAILED ")).toList();
    failures.forEach(line -> System.out.println("  " + line));
    var timesBySide = new LinkedHashMap<String, List<double[]>>();
    for (var side : allSides(program).toList()) {
      if (failures.stream().anyMatch(line -> line.startsWith("FAILED " + side.name() + " "))) continue;
      var timesByProcess = outputs.stream().map(lines -> times(lines, "TOOK " + side.name() + " ")).toList();
      if (timesByProcess.stream().allMatch(times -> times.length == ROUNDS))
        timesBySide.put(side.name(), timesByProcess);
      else System.out.println("  FAILED " + side.name() + " a process ended before it had measured");
    }
    return timesBySide;
  }

  private static Stream<SavinaProgram.ProgramSide> allSides(SavinaProgram program) {
    return Stream.concat(program.sides().stream(), program.onCarriers().sides().stream());
  }

  private static double[] times(List<String> lines, String prefix) {
    return lines.stream().filter(line -> line.startsWith(prefix))
        .mapToDouble(line -> Double.parseDouble(line.substring(prefix.length()))).sorted().toArray();
  }

  private static List<String> runInProcess(SavinaProgram program, List<String> flags, String argument)
      throws IOException, InterruptedException {
    var allFlags = new ArrayList<>(
        List.of("-Drounds=" + ROUNDS, "-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow"));
    allFlags.addAll(flags);
    var command = ChildJvm.command(List.of(), allFlags, Savina.class, argument, program.name());
    var process = ChildJvm.start(command);
    var lines = new ArrayList<String>();
    try (var out = process.inputReader()) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.equals("ROUND")) System.out.print(".");
        else lines.add(line);
      }
    }
    int exit = process.waitFor();
    System.out.print(exit == 0 ? " " : "exit code " + exit + " ");
    return lines;
  }

  // ---- output

  private static double[] sortedTimes(List<double[]> timesByProcess) {
    return timesByProcess.stream().flatMapToDouble(Arrays::stream).sorted().toArray();
  }

  private static void print(String side, List<double[]> timesByProcess, List<double[]> fibryTimes) {
    var runs = sortedTimes(timesByProcess);
    System.out.printf(Locale.ROOT, "  %-23s %9.1f ms (%.1f..%.1f)", side, ResultRow.median(runs), runs[0],
        runs[runs.length - 1]);
    if (fibryTimes != null && fibryTimes != timesByProcess) {
      var ratios = Stream.iterate(0, i -> i + 1).limit(timesByProcess.size())
          .mapToDouble(i -> ResultRow.median(fibryTimes.get(i)) / ResultRow.median(timesByProcess.get(i))).sorted()
          .toArray();
      System.out.printf(Locale.ROOT, ", fibry / this %.3f (processes %.3f..%.3f)", ResultRow.median(ratios), ratios[0],
          ratios[ratios.length - 1]);
    }
    System.out.println();
  }

  private static String json(SavinaProgram program, String side, double[] sorted) {
    return String.format(Locale.ROOT,
        "  {\"jdk\": \"%s\", \"processors\": %d, \"program\": \"%s\", \"size\": \"%s\", \"side\": \"%s\", "
            + "\"unit\": \"ms\", \"median\": %.3f, \"least\": %.3f, \"most\": %.3f}",
        Runtime.version(),
        Runtime.getRuntime().availableProcessors(), program.name(), program.size(), side, ResultRow.median(sorted),
        sorted[0],
        sorted[sorted.length - 1]);
  }
}
