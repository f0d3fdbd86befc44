package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a program in a named module is simulated, too. */
class ModulesJvmTest {
  private static final String PROGRAM = """
      package shop;

      import io.fibry.mailbox.Mailbox;
      import io.fibry.mailbox.Overflow;
      import io.fibry.simulation.Simulation;
      import java.time.Duration;

      class Shop {
        public static void main(String[] args) {
          printFailure(() -> Simulation.run(options -> options.withTimeLimit(Duration.ZERO), sim -> {}));
          printFailure(() -> Simulation.run(sim -> sim.faults().withDelays(1, Duration.ZERO)));
          printFailure(() -> Simulation.run(sim -> sim.assertEventually("any", Duration.ofSeconds(1), () -> false)));
          System.out.println(Simulation.run(options -> options.withSeeds(50), sim -> {
            sim.faults().withSmallMailboxes(0.5);
            var till = sim.node("till").openScope("shop").named("till")
                .mailbox(Mailbox.bounded(8, Overflow.REJECT)).newActorWithReturn((Integer cents) -> 2 * cents);
            long began = System.nanoTime();
            Thread.sleep(Duration.ofDays(1));
            if (till.ask(21) != 42 || System.nanoTime() - began < 86_400_000_000_000L) throw new AssertionError();
          }));
        }

        private static void printFailure(Runnable code) {
          try {
            code.run();
          } catch (Throwable failure) {
            System.out.println(failure);
          }
        }
      }
      """;

  /** Texts of failures, which come from a package that the core exports to few modules. */
  private static final List<String> FAILURES = List.of("a limit of 0 s leaves no time for a run",
      "a fault of at most 0 s has no effect", "not within 1 s: any");

  @TempDir
  private Path folder;

  /** Without {@code -javaagent}, a flag must add the JDK's module java.instrument for the agent. */
  @Test
  @Promise("29.19")
  void simulationRunsOnModulePath() throws Exception {
    var jar = Jvm.jar(folder);

    assertSimulates(jar, "requires io.fibry.simulation; requires io.fibry.durable;", List.of(),
        List.of("--add-modules", "java.instrument"));
  }

  /** The simulation is on the class path, as in tests of a modular project that Maven runs. */
  @Test
  @Promise("29.19")
  void simulationRunsOnClassPath() throws Exception {
    var jar = Jvm.jar(folder);

    assertSimulates(jar, "", List.of("--add-reads", "shop=ALL-UNNAMED"), List.of());
  }

  /**
   * Runs the program twice: with {@code attachFlags}, so that the agent attaches itself, and with
   * {@code -javaagent}.
   */
  private void assertSimulates(Path jar, String requires, List<String> readFlags, List<String> attachFlags)
      throws Exception {
    var module = Files.createDirectory(folder.resolve("module"));
    Files.writeString(folder.resolve("module-info.java"), "module shop { requires io.fibry; " + requires + " }");
    Files.writeString(folder.resolve("Shop.java"), PROGRAM);
    var classPath = Jvm.CLASS_PATH.replace(Jvm.CLASSES.toString(), jar.toString());
    var paths = new ArrayList<>(List.of("--module-path", modulePath(module, jar), "--class-path", classPath));
    paths.addAll(readFlags);

    javac(Stream.concat(paths.stream(), Stream.of("-d", module.toString(),
        folder.resolve("module-info.java").toString(), folder.resolve("Shop.java").toString())));

    for (var flags : List.of(attachFlags, List.of("-javaagent:" + jar, "-XX:-EnableDynamicAgentLoading"))) {
      var arguments = new ArrayList<>(flags);
      arguments.addAll(paths);
      arguments.addAll(List.of("--module", "shop/shop.Shop"));
      var printed = Jvm.run(0, arguments);
      assertTrue(printed.contains("51 runs in "), printed);
      for (var failure : FAILURES) assertTrue(printed.contains(failure), printed);
    }
  }

  /**
   * Returns a module path of the program, the simulation, and the simulation's modular libraries.
   */
  private static String modulePath(Path program, Path jar) {
    var libraries = Stream.of(Jvm.CLASS_PATH.split(File.pathSeparator)).filter(
        part -> part.contains("fibry-core") || part.contains("fibry-durable") || part.contains("slf4j-api"));
    return Stream.concat(Stream.of(program.toString(), jar.toString()), libraries)
        .filter(part -> !part.contains("test-classes")).collect(Collectors.joining(File.pathSeparator));
  }

  private static void javac(Stream<String> arguments) {
    var tool = ToolProvider.findFirst("javac");
    assumeTrue(tool.isPresent(), "no javac in this Java runtime");
    var output = new StringWriter();
    int exit;
    try (var out = new PrintWriter(output)) {
      exit = tool.get().run(out, out, arguments.toArray(String[]::new));
    }
    assertEquals(0, exit, output::toString);
  }
}
