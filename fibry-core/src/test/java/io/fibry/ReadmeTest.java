package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every block of Java in the README compiles, runs, and prints what its comments "prints .." say; every file it links to is there. */
@Timeout(60)
class ReadmeTest {
  private static final Path README = Path.of("../README.md");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
  private static final Pattern CLASS = Pattern.compile("^class (\\w+)");
  private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)\\)");
  private static final String IMPORTS = Stream.of("io.fibry", "io.fibry.flow", "io.fibry.fsm", "io.fibry.mailbox", "io.fibry.net", "io.fibry.pool", "io.fibry.pubsub", "io.fibry.stereotype", "io.fibry.time", "java.net", "java.time", "java.util", "java.util.concurrent", "java.util.concurrent.atomic")
      .map(name -> "import " + name + ".*;\n").reduce("", String::concat);

  @TempDir
  Path out;

  static List<String> blocks() throws Exception {
    return BLOCK.matcher(Files.readString(README)).results().map(found -> found.group(1)).toList();
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void blockCompilesWithoutWarning(String block) throws Exception {
    var said = Programs.javac(out, name(block), source(block));

    assertEquals("", said);
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void blockRunsAndPrintsWhatItSays(String block) throws Exception {
    var said = Programs.ecj(out, Files.writeString(out.resolve(name(block) + ".java"), source(block)));
    assertEquals("", said);
    var promised = PRINTS.matcher(block).results().map(found -> found.group(1)).toList();

    var printed = Programs.run(out, name(block), promised::equals);

    assertEquals(promised, printed);
  }

  @Test
  void codeComesFirstAndAllOfItIsShort() throws Exception {
    var lines = Files.readAllLines(README);

    assertTrue(lines.indexOf("```java") < 10 && lines.size() <= 200, lines.size() + " lines, code from line " + (1 + lines.indexOf("```java")));
  }

  @Test
  void linkedFilesAreThere() throws Exception {
    var links = LINK.matcher(Files.readString(README)).results().map(found -> found.group(1));

    assertEquals(List.of(), links.filter(link -> !Files.exists(README.resolveSibling(link))).toList());
  }

  /** A class as it is, or statements as its main. */
  private static String source(String block) {
    return CLASS.matcher(block).find() ? IMPORTS + block : IMPORTS + "class Statements {\n  public static void main(String[] args) throws Exception {\n" + block + "\n  }\n}\n";
  }

  private static String name(String block) {
    var found = CLASS.matcher(block);
    return found.find() ? found.group(1) : "Statements";
  }
}
