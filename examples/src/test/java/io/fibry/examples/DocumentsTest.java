package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
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
    /**
     * A class as it is, or statements wrapped in a main method. All blocks are compiled together,
     * so each is in a package of its own.
     */
    String source() {
      var code = isClass() ? text
          : "class Statements {\n  public static void main(String[] args) throws Exception {\n" + text + "\n  }\n}\n";
      return "package " + home() + ";\n" + IMPORTS + code;
    }

    boolean isClass() {
      return CLASS.matcher(text).find();
    }

    /** Its package. */
    String home() {
      return "in_" + DOCS.getParent().relativize(document).toString().replaceAll("\\W+", "_") + "_" + number;
    }

    /** The name of its class. */
    String type() {
      var found = CLASS.matcher(text);
      return found.find() ? found.group(1) : "Statements";
    }

    String main() {
      return home() + "." + type();
    }

    /** The file of its source. */
    String file() {
      return main().replace('.', '/');
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
  private static Path classes; // of all blocks, compiled by the Eclipse compiler

  @TempDir
  private static Path data;

  @TempDir
  private Path out;

  private static Stage stage; // where blocks simulate: the agent would slow down this JVM
  private static Map<String, String> javacSaid; // by file; null until the first test needs it

  @BeforeAll
  static void blocksCompileWithEclipse() throws Exception {
    var sources = new ArrayList<Path>();
    for (var block : blocks()) {
      var file = classes.resolve(block.file() + ".java");
      Files.createDirectories(file.getParent());
      sources.add(Files.writeString(file, patient(atHome(block.source(), data.resolve(block.home())))));
    }
    assertEquals("", Programs.ecj(classes, sources.toArray(Path[]::new)));
    stage = Stage.ofClasses(classes);
  }

  @AfterAll
  static void closeStage() {
    if (stage != null) stage.close();
  }

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
    if (javacSaid == null)
      javacSaid = Programs.javac(out, blocks().stream().collect(Collectors.toMap(Block::file, Block::source)));

    assertEquals("", javacSaid.get(block.file()));
  }

  @Test
  void programOnTheFrontPageOfTheJavadocRuns() throws Exception {
    var found = FRONT_PAGE.matcher(Files.readString(Path.of("../fibry-core/src/main/java/module-info.java")));
    assertTrue(found.find());
    var program = found.group(1).replaceAll("(?m)^ \\* ?", "");

    assertEquals(Map.of("Account", ""), Programs.javac(out, Map.of("Account", program)));
    assertEquals("", Programs.ecj(out, Files.writeString(out.resolve("Account.java"), program)));
    assertEquals(List.of("700"), Programs.run(out, "Account", List.of("700")::equals));
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void blockRunsAndPrintsWhatItSays(Block block) throws Exception {
    var printed = block.text().contains("Simulation.run") ? stage.call(block.main()).lines().toList()
        : Programs.run(classes, block.main(), block.promised()::equals);

    assertEquals(block.promised(), printed);
  }

  /** The folder "data" is a folder that the test deletes. */
  static String atHome(String source, Path folder) {
    return source.replace("Path.of(\"data\")", "Path.of(java.net.URI.create(\"" + folder.toUri() + "\"))");
  }

  /** Limits that are not reached, even on a busy machine. */
  private static String patient(String source) {
    return source
        .replaceAll("(\\.(?:ask|awaitQuiescence|withAskLimit)\\((?:.*, )?Duration\\.)of\\w+\\(\\d+\\)\\)",
            "$1ofHours(1))")
        .replaceAll("(\\.get\\(\\d+, TimeUnit\\.)SECONDS\\)", "$1HOURS)");
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
