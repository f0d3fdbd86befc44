package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import org.junit.jupiter.api.Timeout;

/** The shell of {@code mvn -Pjshell}, run with the arguments in the pom. */
@Timeout(180)
class JshellTest {
  private static final Pattern ARGUMENTS =
      Pattern.compile("(?s)<executable>jshell</executable>.*?<arguments>(.*?)</arguments>");
  private static final Pattern ARGUMENT = Pattern.compile("<argument>(.*?)</argument>|<classpath/>");
  private static final Pattern EXPORTS = Pattern.compile("exports ([\\w.]+);");

  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @Test
  void blocksOfTheReadmeRunWithoutAnImport() throws Exception {
    var blocks =
        DocumentsTest.blocks().stream().filter(block -> block.document().equals(DocumentsTest.README)).toList();

    run(blocks.stream().map(JshellTest::typed).collect(Collectors.joining("\n")));

    assertEquals("", errors.toString(StandardCharsets.UTF_8));
    assertEquals(blocks.stream().flatMap(block -> block.promised().stream()).toList(),
        printed.toString(StandardCharsets.UTF_8).lines().toList());
  }

  @Test
  void everyPublicPackageIsImported() throws Exception {
    var exported = EXPORTS.matcher(read("src/main/java/module-info.java")).results().map(found -> found.group(1));

    assertEquals(List.of(), exported.filter(name -> !imports().contains("import " + name + ".*;\n")).toList());
  }

  /** The text of a block, and a call of its main method if it has one. */
  private static String typed(DocumentsTest.Block block) {
    return block.isClass() ? block.text() + block.main() + ".main(new String[0]);\n" : block.text();
  }

  private void run(String input) throws Exception {
    assumeTrue(ModuleLayer.boot().findModule("jdk.jshell").isPresent(), "no jshell in this Java runtime");
    var arguments = arguments().stream().map(argument -> argument.isEmpty() ? Programs.library() : argument);
    var tool = JavaShellToolBuilder.builder().persistence(new HashMap<>()); // else it writes the user's preferences
    tool.in(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)), null);
    tool.err(stream(errors), System.err);
    tool.out(stream(errors), stream(errors), stream(printed));

    int exit = tool.start(Stream.concat(arguments, Stream.of("-")).toArray(String[]::new)); // "-": no prompt

    assertEquals(0, exit);
  }

  private static PrintStream stream(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  /** The content of the file that the shell reads at its start. */
  static String imports() {
    var arguments = arguments();
    return read(arguments.get(arguments.indexOf("--startup") + 1));
  }

  /** Those in the pom; the class path is empty. */
  private static List<String> arguments() {
    var found = ARGUMENTS.matcher(read("pom.xml"));
    assertTrue(found.find());
    return ARGUMENT.matcher(found.group(1)).results()
        .map(argument -> argument.group(1) == null ? "" : argument.group(1)).toList();
  }

  private static String read(String file) {
    try {
      return Files.readString(Path.of(file));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
