package io.fibry.bench.scenario;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A JVM of its own for what needs its own heap, processors or memory account. */
final class ChildJvm {
  private static final String MARK = "RESULT ";

  private ChildJvm() {}

  /** In the child: says a figure. */
  static void say(String what) {
    System.out.println(MARK + what);
  }

  /**
   * Runs a class and answers what it said; throws if it failed. Its other output passes through.
   */
  static List<String> run(List<String> before, List<String> flags, Class<?> main, Object... args)
      throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(command(before, flags, main, args)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var said = new ArrayList<String>();
    try (var out = process.inputReader()) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.startsWith(MARK)) said.add(line.substring(MARK.length()));
        else System.out.println(line);
      }
    }
    int exit = process.waitFor();
    if (exit != 0) throw new IllegalStateException(
        main.getSimpleName() + " " + Arrays.toString(args) + " with " + flags + " ended with exit code " + exit);
    return said;
  }

  static List<String> command(List<String> before, List<String> flags, Class<?> main, Object... args) {
    var command = new ArrayList<>(before);
    command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"));
    command.addAll(flags);
    command.add(main.getName());
    for (var arg : args) command.add(arg.toString());
    return command;
  }
}
