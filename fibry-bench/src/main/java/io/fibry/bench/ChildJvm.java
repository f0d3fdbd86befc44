package io.fibry.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Starts JVMs for programs that need their own heap, processors or flags. Each JVM gets the flags
 * of the property {@code child.flags}, and then its own. Without other flags, the JDK's scheduler
 * runs the fibers.
 */
public final class ChildJvm {
  /** Flags of a child whose fibers run on the carriers of fibry-carriers. */
  public static final List<String> ON_CARRIERS =
      List.of("-Dfibry.carriers=required", "--add-opens", "java.base/java.lang=ALL-UNNAMED");
  private static final String LINE_PREFIX = "RESULT ";

  private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly)));
  }

  private ChildJvm() {}

  /**
   * Starts a process, which is killed when this JVM ends. Otherwise a child that hangs would keep
   * open the standard error that it shares with this JVM.
   */
  public static Process start(List<String> command) throws IOException {
    var process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    RUNNING.add(process);
    process.onExit().thenRun(() -> RUNNING.remove(process));
    return process;
  }

  /** Called in the child: prints a line of values that the parent reads as a result. */
  public static void tell(Object... values) {
    System.out.println(LINE_PREFIX + Arrays.stream(values).map(Object::toString).collect(Collectors.joining(" ")));
  }

  /**
   * Runs a class in a child JVM, and returns the lines that the child printed by {@link #tell}.
   * Prints the child's other lines. Throws if the exit code is not 0. {@code wrapper} is a command
   * that starts the JVM, such as {@code taskset}; if it is empty, the JVM is started directly.
   */
  public static List<String> run(List<String> wrapper, List<String> flags, Class<?> main, Object... args)
      throws IOException, InterruptedException {
    var process = start(command(wrapper, flags, main, args));
    var results = new ArrayList<String>();
    try (var out = process.inputReader()) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.startsWith(LINE_PREFIX)) results.add(line.substring(LINE_PREFIX.length()));
        else System.out.println(line);
      }
    }
    int exit = process.waitFor();
    if (exit != 0) throw new IllegalStateException(
        main.getSimpleName() + " " + Arrays.toString(args) + " with " + flags + " ended with exit code " + exit);
    return results;
  }

  /** Runs a class that prints one line of numbers by {@link #tell}, and returns the numbers. */
  public static double[] measurements(List<String> flags, Class<?> main, Object... args)
      throws IOException, InterruptedException {
    var results = run(List.of(), flags, main, args);
    if (results.size() != 1)
      throw new IllegalStateException(
          main.getSimpleName() + " " + Arrays.toString(args) + " must print one result, but printed " + results);
    return numbers(results.getFirst());
  }

  public static double[] numbers(String line) {
    return Arrays.stream(line.split(" ")).mapToDouble(Double::parseDouble).toArray();
  }

  public static List<String> command(List<String> wrapper, List<String> flags, Class<?> main, Object... args) {
    var command = new ArrayList<>(wrapper);
    command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), "-Dfibry.carriers=off"));
    Arrays.stream(System.getProperty("child.flags", "").split(" ")).filter(flag -> !flag.isEmpty())
        .forEach(command::add);
    command.addAll(flags);
    command.add(main.getName());
    for (var arg : args) command.add(arg.toString());
    return command;
  }
}
