package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Child;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

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
}
