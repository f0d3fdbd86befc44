package io.fibry.bench.savina;

import io.fibry.bench.ChildJvm;
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
 * Programs after the Savina actor benchmarks; {@code Savina skynet big} runs only these. The sides
 * take turns in each of three processes, {@code -Drounds} times after a warm-up; each run checks
 * its result. Writes {@code target/savina.json}, and exits with 1 if a side failed.
 *
 * <p>{@code fibry} is the form that a user would write, and {@code fibry-messages} the same without
 * waiting for answers. {@code fibry-pool} runs on a {@code ForkJoinPool} and has no handler that
 * waits. {@code queues} is a virtual thread and a {@code LinkedTransferQueue} for each. Most sizes
 * are larger than Savina's, so that a run is warm before it ends.
 */
public final class Savina {
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

  public static void main(String[] names) throws Exception {
    if (names.length == 2 && names[0].equals("--process")) {
      takeTurns(program(names[1]));
      System.exit(0); // a thread may hang
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
      well &= took.keySet().containsAll(program.sides().stream().map(SavinaProgram.ProgramSide::name).toList());
      took.forEach((side, processes) -> {
        print(side, processes, took.get(program.sides().getFirst().name()));
        lines.add(json(program, side, sorted(processes)));
      });
      Files.createDirectories(FILE.getParent());
      Files.writeString(FILE, "[\n" + String.join(",\n", lines) + "\n]\n");
    }
    System.out.println("written: " + FILE.toAbsolutePath());
    System.exit(well ? 0 : 1);
  }

  private static SavinaProgram program(String name) {
    return PROGRAMS.stream().filter(program -> program.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "no program '" + name + "'; there are " + PROGRAMS.stream().map(SavinaProgram::name).toList()));
  }

  // ---- in the child; each round begins with another side

  private static void takeTurns(SavinaProgram program) {
    var sides = new ArrayList<>(program.sides());
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      for (var side : List.copyOf(sides)) {
        try {
          System.gc(); // no side pays for the garbage of another
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

  // ---- in the parent

  /** The milliseconds of each side that never failed, process by process. */
  private static Map<String, List<double[]>> measure(SavinaProgram program) throws IOException, InterruptedException {
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

  private static List<String> inProcess(SavinaProgram program) throws IOException, InterruptedException {
    var command = ChildJvm.command(List.of(),
        List.of("-Drounds=" + ROUNDS, "-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow"),
        Savina.class, "--process", program.name());
    var process = ChildJvm.start(command);
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

  // ---- output

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

  private static String json(SavinaProgram program, String side, double[] sorted) {
    return String.format(Locale.ROOT,
        "  {\"jdk\": \"%s\", \"processors\": %d, \"program\": \"%s\", \"size\": \"%s\", \"side\": \"%s\", "
            + "\"unit\": \"ms\", \"median\": %.3f, \"least\": %.3f, \"most\": %.3f}",
        Runtime.version(),
        Runtime.getRuntime().availableProcessors(), program.name(), program.size(), side, median(sorted), sorted[0],
        sorted[sorted.length - 1]);
  }
}
