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
 * A JVM of its own, for what needs its own heap, processors or flags. {@code -Dchild.flags} are for
 * all of them, before their own.
 */
public final class ChildJvm {
  private static final String MARK = "RESULT ";

  private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly)));
  }

  private ChildJvm() {}

  /**
   * Starts a process. It ends with this JVM, since a child that hangs would keep the output of its
   * parent open. Its errors are printed by this JVM.
   */
  public static Process start(List<String> command) throws IOException {
    var process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    RUNNING.add(process);
    process.onExit().thenRun(() -> RUNNING.remove(process));
    return process;
  }

  /** In the child: tells its parent a line of values. */
  public static void tell(Object... values) {
    System.out.println(MARK + Arrays.stream(values).map(Object::toString).collect(Collectors.joining(" ")));
  }

  /**
   * Runs a class and returns the lines that it told; throws if it failed. Its other output passes
   * through. {@code before} is a command that starts the JVM, or empty.
   */
  public static List<String> run(List<String> before, List<String> flags, Class<?> main, Object... args)
      throws IOException, InterruptedException {
    var process = start(command(before, flags, main, args));
    var told = new ArrayList<String>();
    try (var out = process.inputReader()) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.startsWith(MARK)) told.add(line.substring(MARK.length()));
        else System.out.println(line);
      }
    }
    int exit = process.waitFor();
    if (exit != 0) throw new IllegalStateException(
        main.getSimpleName() + " " + Arrays.toString(args) + " with " + flags + " ended with exit code " + exit);
    return told;
  }

  /** Runs a class that tells one line of numbers. */
  public static double[] figures(List<String> flags, Class<?> main, Object... args)
      throws IOException, InterruptedException {
    var told = run(List.of(), flags, main, args);
    if (told.size() != 1)
      throw new IllegalStateException(main.getSimpleName() + " " + Arrays.toString(args) + " told " + told);
    return numbers(told.getFirst());
  }

  public static double[] numbers(String line) {
    return Arrays.stream(line.split(" ")).mapToDouble(Double::parseDouble).toArray();
  }

  public static List<String> command(List<String> before, List<String> flags, Class<?> main, Object... args) {
    var command = new ArrayList<>(before);
    command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path")));
    Arrays.stream(System.getProperty("child.flags", "").split(" ")).filter(flag -> !flag.isEmpty())
        .forEach(command::add);
    command.addAll(flags);
    command.add(main.getName());
    for (var arg : args) command.add(arg.toString());
    return command;
  }
}
