package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Child;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Starts the executable jar without a flag of the JVM. The build runs it after the jar is made. */
class ExecutableJarCheck {
  private static final String JAR = System.getProperty("executable.jar");

  private static Child run(String... arguments) {
    var command = new ArrayList<>(List.of("-Dfibry.carriers=required"));
    command.addAll(List.of(arguments));
    return Child.java(command);
  }

  @Test
  void jarRunsActorsOnCarriersWithoutFlag() {
    try (var example = run("-jar", JAR, "Counter")) {
      assertEquals("four senders, a thousand each: 4000", example.awaitExit(0).strip());
    }
  }

  /** The line of the manifest opens the package for {@code java -jar} only. */
  @Test
  void carriersAreMissingIfJarIsOnlyOnClassPath() {
    try (var example = run("-cp", JAR, "io.fibry.examples.start.Start", "Counter")) {
      String output = example.awaitExit(1);

      assertTrue(output.contains("fibry.carriers=required, but fibry-carriers is not used"), output);
    }
  }

  /** Uses the commands of chapter 14 of the guide. */
  @EnabledForJreRange(min = JRE.JAVA_25)
  @Test
  void jarStartsWithAotCacheOfTrainingRun(@TempDir Path folder) {
    var cache = folder.resolve("app.aot");
    try (var training = run("-XX:AOTCacheOutput=" + cache, "-jar", JAR, "HttpHello")) {
      training.awaitExit(0);
    }

    try (var example = run("-XX:AOTMode=on", "-XX:AOTCache=" + cache, "-jar", JAR, "HttpHello")) {
      assertEquals("Hello World!", example.awaitExit(0).strip());
    }
  }
}
