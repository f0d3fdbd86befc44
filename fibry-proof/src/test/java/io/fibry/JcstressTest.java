package io.fibry;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Runs the races of src/main/java, each in its own JVMs. They have no time limit here: jcstress
 * ends a race that hangs, and reports it as failed.
 */
class JcstressTest {
  /**
   * The expected output. The exit code is not enough, because it is also 0 if jcstress found no
   * race, or could run none.
   */
  private static final Pattern PASSED =
      Pattern.compile("Results: ([1-9]\\d*) planned; \\1 passed, 0 failed, 0 soft errs, 0 hard errs");
  private static final List<String> NATIVE = List.of("--enable-native-access=ALL-UNNAMED"); // silences a warning

  @Test
  void racesHaveOnlyAcceptableOutcomes() throws IOException {
    var folder = Files.createDirectories(Path.of("target", "jcstress").toAbsolutePath());
    var command = new ArrayList<String>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(NATIVE);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "org.openjdk.jcstress.Main"));
    command.add("-jvmArgsPrepend");
    command.addAll(NATIVE);
    command.addAll(List.of(System.getProperty("jcstress.args").split(" ")));
    try (var child = Child.start(new ProcessBuilder(command).directory(folder.toFile()))) {
      child.exitCode();
      var log = child.output();
      Files.writeString(folder.resolve("log.txt"), log);
      assertTrue(PASSED.matcher(log).find(), log);
    }
  }
}
