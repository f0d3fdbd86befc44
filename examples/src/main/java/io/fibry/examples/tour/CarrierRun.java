package io.fibry.examples.tour;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Measures again in a second JVM, where the module fibry-carriers runs the fibers. The second JVM
 * opens {@code java.lang} to this module.
 */
public final class CarrierRun {
  /** The argument of the program in the second JVM. */
  public static final String ARGUMENT = "on-carriers";
  private static final String PREFIX = "values ";

  private CarrierRun() {}

  /** Called in the second JVM: prints the measured values for the first JVM. */
  public static void tell(List<Row> rows) {
    System.out.println("\n" + PREFIX
        + rows.stream().map(row -> Double.toString(row.value())).collect(Collectors.joining(" ")));
  }

  /** Runs a program in a second JVM. Returns its values, or none if the JVM cannot use carriers. */
  public static double[] values(Class<?> program, String... args) throws IOException, InterruptedException {
    var process = new ProcessBuilder(command(program, args)).redirectErrorStream(true).start();
    try {
      var values = new double[0];
      try (var lines = process.inputReader()) {
        for (var line = lines.readLine(); line != null; line = lines.readLine())
          if (line.startsWith(PREFIX)) values = Arrays.stream(line.substring(PREFIX.length()).split(" "))
              .mapToDouble(Double::parseDouble).toArray();
      }
      return process.waitFor() == 0 ? values : new double[0];
    } finally {
      process.destroyForcibly(); // also if this program is interrupted
    }
  }

  private static List<String> command(Class<?> program, String... args) {
    var command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx" + Runtime.getRuntime().maxMemory(), "-Dfibry.carriers=required", "--add-opens"));
    var module = program.getModule();
    if (module.isNamed()) {
      command.addAll(List.of("java.base/java.lang=io.fibry.carriers", "--module-path",
          System.getProperty("jdk.module.path"), "--module", module.getName() + "/" + program.getName()));
    } else {
      command.addAll(List.of("java.base/java.lang=ALL-UNNAMED", "--class-path", System.getProperty("java.class.path"),
          program.getName()));
    }
    command.addAll(List.of(args));
    return command;
  }
}
