package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Child;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a user's modular program. It is compiled against the library's class folder or, after
 * {@code mvn package}, its jar. It is then linked into an image that has only the needed modules.
 */
class ModularTest {
  @TempDir
  Path folder;

  @Test
  void modularProgramRunsFromItsJlinkImage() throws Exception {
    write("module-info.java", """
        module greeter {
          requires io.fibry;
        }
        """);
    write("Greeter.java", """
        package greeter;

        import io.fibry.ActorSystem;

        class Greeter {
          public static void main(String[] args) {
            try (var greeter = ActorSystem.named("greeter").newActorWithReturn((String name) -> "Hello " + name)) {
              System.out.println(greeter.ask("World"));
            }
          }
        }
        """);
    var classes = folder.resolve("classes");
    var image = folder.resolve("image");

    tool("javac", "--release", "21", "-Xlint:all", "-Werror", "--module-path", ExamplesTest.modules(), "-d",
        classes.toString(), folder.resolve("module-info.java").toString(), folder.resolve("Greeter.java").toString());
    tool("jlink", "--module-path", classes + File.pathSeparator + ExamplesTest.modules(), "--add-modules",
        "greeter,org.slf4j.simple", "--output", image.toString());

    assertEquals("Hello World", java(image, "--module", "greeter/greeter.Greeter"));
    assertEquals(
        List.of("greeter", "io.fibry", "java.base", "java.net.http", "jdk.jfr", "org.slf4j", "org.slf4j.simple"),
        java(image, "--list-modules").lines().map(module -> module.replaceAll("@.*", "")).sorted().toList());
  }

  private void write(String file, String source) throws Exception {
    Files.writeString(folder.resolve(file), source);
  }

  /** Runs a tool of the JDK; skips the test on a JRE. */
  private static void tool(String name, String... arguments) {
    var tool = ToolProvider.findFirst(name);
    assumeTrue(tool.isPresent(), "no " + name + " in this Java runtime");
    var output = new StringWriter();
    int exit;
    try (var out = new PrintWriter(output)) {
      exit = tool.get().run(out, out, arguments);
    }
    assertEquals(0, exit, () -> name + " " + Arrays.toString(arguments) + ": " + output);
  }

  /** Runs the image's Java, and returns its output. */
  private static String java(Path image, String... arguments) {
    var command = new ArrayList<>(List.of(image.resolve("bin").resolve("java").toString()));
    command.addAll(List.of(arguments));
    try (var child = Child.start(command)) {
      return child.awaitExit(0).strip();
    }
  }
}
