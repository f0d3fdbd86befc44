package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Patience;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jshell.tool.JavaShellToolBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the shell of {@code mvn -Pjshell}, with the arguments in the pom. */
class JshellTest {
  private static final Pattern ARGUMENTS =
      Pattern.compile("(?s)<executable>jshell</executable>.*?<arguments>(.*?)</arguments>");
  private static final Pattern ARGUMENT = Pattern.compile("<argument>(.*?)</argument>|<classpath/>");
  private static final Pattern EXPORTS = Pattern.compile("exports ([\\w.]+);");
  /** The JDK's default for --execution, but with a limit that is long enough on a busy machine. */
  private static final String EXECUTION =
      "failover:0(jdi:hostname(127.0.0.1),timeout(%1$d)),1(jdi:launch(true),timeout(%1$d)),2(jdi:timeout(%1$d))"
          .formatted(Patience.LONG.toMillis());
  private static final Path MODULE = Path.of("../fibry-cluster"); // its pom configures the shell

  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
  private final ByteArrayOutputStream output = new ByteArrayOutputStream();

  @TempDir
  private Path folder;

  @Test
  void codeBlocksOfReadmeRunInJshellWithoutImports() throws Exception {
    var blocks =
        DocumentsTest.blocks().stream().filter(block -> block.document().equals(DocumentsTest.README)).toList();

    run(DocumentsTest.withDataFolder(blocks.stream().map(JshellTest::shellInput).collect(Collectors.joining("\n")),
        folder));

    assertEquals("", errors.toString(StandardCharsets.UTF_8));
    assertEquals(blocks.stream().flatMap(block -> block.expectedLines().stream()).toList(),
        output.toString(StandardCharsets.UTF_8).lines().toList());
  }

  @Test
  void jshellScriptImportsEveryPublicPackage() throws Exception {
    var packages = Stream.of(MODULE, Path.of("../fibry-durable"), Path.of("../fibry-core"))
        .flatMap(module -> EXPORTS.matcher(read(module.resolve("src/main/java/module-info.java"))).results())
        .map(match -> match.group(1)).toList();

    assertTrue(packages.size() > 10, packages.toString());
    assertEquals(List.of(),
        packages.stream().filter(name -> !imports().contains("import " + name + ".*;\n")).toList());
  }

  /** Returns the text of a block, and a call of its main method if it is a class. */
  private static String shellInput(DocumentsTest.Block block) {
    return block.isClass() ? block.text() + block.type() + ".main(new String[0]);\n" : block.text();
  }

  private void run(String input) throws Exception {
    assumeTrue(ModuleLayer.boot().findModule("jdk.jshell").isPresent(), "no jshell in this Java runtime");
    var arguments = arguments().stream().map(argument -> argument.isEmpty() ? Programs.library() : argument);
    var tool = JavaShellToolBuilder.builder().persistence(new HashMap<>()); // ignores the user's preferences
    tool.in(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)), null);
    tool.err(stream(errors), System.err);
    tool.out(stream(errors), stream(errors), stream(output));

    int exit = tool.start(Stream.concat(arguments, Stream.of("--execution", EXECUTION, "-")) // "-": no prompt
        .toArray(String[]::new));

    assertEquals(0, exit);
  }

  private static PrintStream stream(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  /** Returns the content of the file that the shell reads at its start. */
  static String imports() {
    var arguments = arguments();
    return read(Path.of(arguments.get(arguments.indexOf("--startup") + 1)));
  }

  /** Returns the arguments in the pom, with an empty text for the class path. */
  private static List<String> arguments() {
    var match = ARGUMENTS.matcher(read(MODULE.resolve("pom.xml")));
    assertTrue(match.find());
    return ARGUMENT.matcher(match.group(1)).results()
        .map(argument -> argument.group(1) == null ? "" : argument.group(1))
        .map(argument -> argument.startsWith("src/") ? MODULE.resolve(argument).toString() : argument).toList();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
