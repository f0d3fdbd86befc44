package io.fibry.bench.savina;

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
 * Whole programs in the manner of the Savina actor benchmarks, side by side: Fibry, Pekko typed,
 * virtual threads with queues. In each of three processes the sides take turns; each run checks its
 * own result.
 *
 * <p>{@code Savina skynet big} runs only these. {@code -Drounds=9} measures so many rounds in each
 * process, after those that warm up; under Maven it is {@code -Dvm.args=-Drounds=9}. The figures
 * land in {@code target/savina.json}, in milliseconds. Exits with 1 if a side failed.
 *
 * <p>The sides: {@code fibry} is the form that a user would write, {@code fibry-messages} the same
 * without waiting for answers, {@code fibry-pool} on a {@code ForkJoinPool} with a thread per
 * processor where no handler waits; {@code pekko} as its documentation recommends; {@code queues} a
 * virtual thread and a {@code LinkedTransferQueue} each. Each program names Savina's size; most of
 * ours are larger, or a run would be over before it is warm.
 */
public final class Savina {
  private static final int PROCESSES = 3;
  private static final int WARM_UP = 3;
  private static final int ROUNDS = Integer.getInteger("rounds", 7);
  private static final Path FILE = Path.of("target", "savina.json");

  static final List<Program> PROGRAMS = List.of(
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

  /**
   * Runs them.
   *
   * @param names of the programs, or none for all
   * @throws Exception if a process cannot be run
   */
  public static void main(String[] names) throws Exception {
    if (names.length == 2 && names[0].equals("--process")) {
      takeTurns(program(names[1]));
      System.exit(0); // who hangs would keep it
    }
    var programs = names.length == 0 ? PROGRAMS : Arrays.stream(names).map(Savina::program).toList();
    System.out.printf(Locale.ROOT,
        "JDK %s, %d processors; %d rounds in each of %d processes; median (least..most) of all; the ratio is that "
            + "of the middle process, lower is better for Fibry%n",
        Runtime.version(),
        Runtime.getRuntime().availableProcessors(), ROUNDS, PROCESSES);
    boolean well = true;
    var lines = new ArrayList<String>();
    for (var program : programs) {
      var took = measure(program);
      well &= took.keySet().containsAll(program.sides().stream().map(Program.Side::name).toList());
      took.forEach((side, processes) -> {
        print(side, processes, took.get(program.sides().getFirst().name()));
        lines.add(json(program, side, sorted(processes)));
      });
      Files.createDirectories(FILE.getParent());
      // each time, in case the next one is interrupted
      Files.writeString(FILE, "[\n" + String.join(",\n", lines) + "\n]\n");
    }
    System.out.println("written: " + FILE.toAbsolutePath());
    System.exit(well ? 0 : 1);
  }

  private static Program program(String name) {
    return PROGRAMS.stream().filter(program -> program.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "no program '" + name + "'; there are " + PROGRAMS.stream().map(Program::name).toList()));
  }

  // ---- in a process of its own: the sides by turns, another one first each time

  private static void takeTurns(Program program) {
    var sides = new ArrayList<>(program.sides());
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      for (var side : List.copyOf(sides)) {
        try {
          System.gc(); // none pays for the garbage of another
          long nanos = program.nanos(side);
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

  // ---- in the first process

  /**
   * For each side that never failed, in the order of the program: the milliseconds, process by
   * process.
   */
  private static Map<String, List<double[]>> measure(Program program) throws IOException, InterruptedException {
    System.out.print("\n" + program.name() + ", " + program.size() + " ");
    var processes = new ArrayList<List<String>>();
    for (int i = 0; i < PROCESSES; i++) processes.add(inProcess(program));
    System.out.println();
    var failed = processes.stream().flatMap(List::stream).filter(line -> line.startsWith("FAILED ")).toList();
    failed.forEach(line -> System.out.println("  " + line));
    var took = new LinkedHashMap<String, List<double[]>>();
    for (var side : program.sides()) {
      if (failed.stream().anyMatch(line -> line.startsWith("FAILED " + side.name() + " "))) continue;
      var each = processes.stream().map(lines -> times(lines, "TOOK " + side.name() + " ")).toList();
      if (each.stream().allMatch(times -> times.length == ROUNDS)) took.put(side.name(), each);
      else System.out.println("  FAILED " + side.name() + " a process ended before it had measured");
    }
    return took;
  }

  private static double[] times(List<String> lines, String start) {
    return lines.stream().filter(line -> line.startsWith(start))
        .mapToDouble(line -> Double.parseDouble(line.substring(start.length()))).sorted().toArray();
  }

  private static List<String> inProcess(Program program) throws IOException, InterruptedException {
    var command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Drounds=" + ROUNDS,
        "-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
        System.getProperty("java.class.path"), Savina.class.getName(), "--process", program.name());
    var process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var lines = new ArrayList<String>();
    try (var printed = process.inputReader()) {
      for (String line = printed.readLine(); line != null; line = printed.readLine()) {
        if (line.equals("ROUND")) System.out.print(".");
        else lines.add(line);
      }
    }
    int exit = process.waitFor();
    System.out.print(exit == 0 ? " " : "exit code " + exit + " ");
    return lines;
  }

  // ---- what is told

  private static double[] sorted(List<double[]> processes) {
    return processes.stream().flatMapToDouble(Arrays::stream).sorted().toArray();
  }

  private static double median(double[] sorted) {
    return sorted[sorted.length / 2];
  }

  private static void print(String side, List<double[]> processes, List<double[]> ours) {
    var all = sorted(processes);
    System.out.printf(Locale.ROOT, "  %-16s %9.1f ms (%.1f..%.1f)", side, median(all), all[0], all[all.length - 1]);
    if (ours != null && ours != processes) {
      var ratios = Stream.iterate(0, i -> i + 1).limit(processes.size())
          .mapToDouble(i -> median(ours.get(i)) / median(processes.get(i))).sorted().toArray();
      System.out.printf(Locale.ROOT, ", fibry / this %.3f (processes %.3f..%.3f)", median(ratios), ratios[0],
          ratios[ratios.length - 1]);
    }
    System.out.println();
  }

  private static String json(Program program, String side, double[] sorted) {
    return String.format(Locale.ROOT,
        "  {\"jdk\": \"%s\", \"processors\": %d, \"program\": \"%s\", \"size\": \"%s\", \"side\": \"%s\", "
            + "\"unit\": \"ms\", \"median\": %.3f, \"least\": %.3f, \"most\": %.3f}",
        Runtime.version(),
        Runtime.getRuntime().availableProcessors(), program.name(), program.size(), side, median(sorted), sorted[0],
        sorted[sorted.length - 1]);
  }
}
