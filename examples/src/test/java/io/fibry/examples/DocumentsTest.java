package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every Java block in the README and below docs compiles, runs, and prints what its "prints .."
 * comments say. They may use all that is published without a third party.
 */
class DocumentsTest {
  static final Path README = Path.of("../README.md");
  private static final Path DOCS = Path.of("../docs");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
  private static final Pattern CLASS = Pattern.compile("^class (\\w+)");
  private static final Pattern FRONT_PAGE = Pattern.compile("(?s)\\{@snippet :\n(.*?)\n \\* }\n \\*\n");
  private static final String IMPORTS = JshellTest.imports() + "import io.fibry.simulation.*;\n";

  /** A block, by its number in its document. */
  record Block(Path document, int number, String text) {
    /** A class as it is, or statements wrapped in a main method. */
    String source() {
      return isClass() ? IMPORTS + text : IMPORTS
          + "class Statements {\n  public static void main(String[] args) throws Exception {\n" + text + "\n  }\n}\n";
    }

    boolean isClass() {
      return CLASS.matcher(text).find();
    }

    String main() {
      var found = CLASS.matcher(text);
      return found.find() ? found.group(1) : "Statements";
    }

    List<String> promised() {
      return PRINTS.matcher(text).results().map(found -> found.group(1)).toList();
    }

    @Override
    public String toString() {
      return document.getFileName() + " " + number;
    }
  }

  @TempDir
  Path out;

  static List<Block> blocks() throws Exception {
    var blocks = new ArrayList<Block>();
    for (var document : documents()) {
      int number = 0;
      for (var found : BLOCK.matcher(Files.readString(document)).results().toList())
        blocks.add(new Block(document, ++number, found.group(1)));
    }
    return blocks;
  }

  private static List<Path> documents() throws Exception {
    try (var files = Files.walk(DOCS)) {
      return Stream.concat(Stream.of(README), files.filter(file -> file.toString().endsWith(".md")).sorted()).toList();
    }
  }

  static List<Path> chapters() throws Exception {
    return documents().stream().filter(document -> document.getFileName().toString().matches("\\d{1,2}-.*")).toList();
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void blockCompilesWithoutWarning(Block block) throws Exception {
    var said = Programs.javac(out, block.main(), block.source());

    assertEquals("", said);
  }

  @Test
  void programOnTheFrontPageOfTheJavadocRuns() throws Exception {
    var found = FRONT_PAGE.matcher(Files.readString(Path.of("../fibry-core/src/main/java/module-info.java")));
    assertTrue(found.find());
    var program = found.group(1).replaceAll("(?m)^ \\* ?", "");

    assertEquals("", Programs.javac(out, "Account", program));
    assertEquals("", Programs.ecj(out, Files.writeString(out.resolve("Account.java"), program)));
    assertEquals(List.of("700"), Programs.run(out, "Account", List.of("700")::equals));
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void blockRunsAndPrintsWhatItSays(Block block) throws Exception {
    var source = atHome(block.source(), out.resolve("data"));
    var said = Programs.ecj(out, Files.writeString(out.resolve(block.main() + ".java"), source));
    assertEquals("", said);

    var printed = Programs.run(out, block.main(), block.promised()::equals);

    assertEquals(block.promised(), printed);
  }

  /** The folder "data" is one that the test deletes. */
  static String atHome(String source, Path folder) {
    return source.replace("Path.of(\"data\")", "Path.of(java.net.URI.create(\"" + folder.toUri() + "\"))");
  }

  @Test
  void codeComesFirstAndTheReadmeIsShort() throws Exception {
    assertCodeFirst(README, 200);
  }

  @ParameterizedTest
  @MethodSource("chapters")
  void codeComesFirstAndAChapterIsShort(Path chapter) throws Exception {
    assertCodeFirst(chapter, 120);
  }

  private static void assertCodeFirst(Path document, int most) throws Exception {
    var lines = Files.readAllLines(document);

    int code = lines.indexOf("```java");
    assertTrue(0 < code && code < 10 && lines.size() <= most,
        () -> lines.size() + " lines, code from line " + (code + 1));
  }

  @ParameterizedTest
  @MethodSource("chapters")
  void chapterNamesTheMistakeThatPeopleMake(Path chapter) throws Exception {
    assertTrue(Files.readString(chapter).contains("\n## The mistake"), "it needs a heading '## The mistake'");
  }

  @Test
  void theGuideListsItsChapters() throws Exception {
    var contents = Files.readString(DOCS.resolve("guide/README.md"));

    assertEquals(12, chapters().size());
    assertEquals(List.of(),
        chapters().stream().filter(chapter -> !contents.contains("(" + chapter.getFileName() + ")")).toList());
  }
}
