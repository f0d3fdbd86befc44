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
 * Tests that every Java block in the README and in docs compiles, runs, and prints the texts of its
 * "prints .." comments. Blocks may use all published classes that need no third-party library.
 */
class DocumentsTest {
  static final Path README = Path.of("../README.md");
  private static final Path DOCS = Path.of("../docs");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
  private static final Pattern CLASS = Pattern.compile("^class (\\w+)");
  private static final Pattern FRONT_PAGE = Pattern.compile("(?s)\\{@snippet :\n(.*?)\n \\* }\n \\*\n");
  private static final String IMPORTS = JshellTest.imports() + "import io.fibry.simulation.*;\n";

  /** A Java block, with its number in its document. */
  record Block(Path document, int number, String text) {
    /**
     * Returns the source file: a package, imports, and the class, or a class whose main method has
     * the statements. Each block has its own package, because all blocks are compiled together.
     */
    String source() {
      var code = isClass() ? text
          : "class Statements {\n  public static void main(String[] args) throws Exception {\n" + text + "\n  }\n}\n";
      return "package " + packageName() + ";\n" + IMPORTS + code;
    }

    boolean isClass() {
      return CLASS.matcher(text).find();
    }

    String packageName() {
      return "in_" + DOCS.getParent().relativize(document).toString().replaceAll("\\W+", "_") + "_" + number;
    }

    /** Returns the name of its class. */
    String type() {
      var match = CLASS.matcher(text);
      return match.find() ? match.group(1) : "Statements";
    }

    String mainClass() {
      return packageName() + "." + type();
    }

    /** Returns the path of its source file, without the extension. */
    String sourcePath() {
      return mainClass().replace('.', '/');
    }

    List<String> expectedLines() {
      return PRINTS.matcher(text).results().map(match -> match.group(1)).toList();
    }

    @Override
    public String toString() {
      return document.getFileName() + " " + number;
    }
  }

  @TempDir
  private static Path classes; // all blocks, compiled by the Eclipse compiler

  @TempDir
  private static Path data;

  @TempDir
  private Path out;

  private static ProgramJvm jvm; // runs blocks that simulate, because their agent would slow down this JVM
  private static Map<String, String> javacErrors; // by file; null until the first test needs it

  @BeforeAll
  static void blocksCompileWithEclipse() throws Exception {
    var sources = new ArrayList<Path>();
    for (var block : blocks()) {
      var file = classes.resolve(block.sourcePath() + ".java");
      Files.createDirectories(file.getParent());
      sources
          .add(Files.writeString(file, raiseLimits(withDataFolder(block.source(), data.resolve(block.packageName())))));
    }
    assertEquals("", Programs.ecj(classes, sources.toArray(Path[]::new)));
    jvm = ProgramJvm.ofClasses(classes);
  }

  @AfterAll
  static void closeJvm() {
    if (jvm != null) jvm.close();
  }

  static List<Block> blocks() throws Exception {
    var blocks = new ArrayList<Block>();
    for (var document : documents()) {
      int number = 0;
      for (var match : BLOCK.matcher(Files.readString(document)).results().toList())
        blocks.add(new Block(document, ++number, match.group(1)));
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
  void codeInDocumentCompilesWithoutWarning(Block block) throws Exception {
    if (javacErrors == null)
      javacErrors = Programs.javac(out, blocks().stream().collect(Collectors.toMap(Block::sourcePath, Block::source)));

    assertEquals("", javacErrors.get(block.sourcePath()));
  }

  @Test
  void programOnFrontPageOfJavadocRuns() throws Exception {
    var match = FRONT_PAGE.matcher(Files.readString(Path.of("../fibry-core/src/main/java/module-info.java")));
    assertTrue(match.find());
    var program = match.group(1).replaceAll("(?m)^ \\* ?", "");

    assertEquals(Map.of("Account", ""), Programs.javac(out, Map.of("Account", program)));
    assertEquals("", Programs.ecj(out, Files.writeString(out.resolve("Account.java"), program)));
    assertEquals(List.of("700"), Programs.run(out, "Account", List.of("700")::equals));
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void codeBlockPrintsLinesPromisedInComments(Block block) throws Exception {
    var printedLines = block.text().contains("Simulation.run") ? jvm.call(block.mainClass()).lines().toList()
        : Programs.run(classes, block.mainClass(), block.expectedLines()::equals);

    assertEquals(block.expectedLines(), printedLines);
  }

  /** Replaces the folder "data" by a folder that the test deletes. */
  static String withDataFolder(String source, Path folder) {
    return source.replace("Path.of(\"data\")", "Path.of(java.net.URI.create(\"" + folder.toUri() + "\"))");
  }

  /** Raises limits to an hour, which does not pass even on a busy machine. */
  private static String raiseLimits(String source) {
    return source
        .replaceAll("(\\.(?:ask|awaitQuiescence|withAskLimit)\\((?:.*, )?Duration\\.)of\\w+\\(\\d+\\)\\)",
            "$1ofHours(1))")
        .replaceAll("(\\.get\\(\\d+, TimeUnit\\.)SECONDS\\)", "$1HOURS)");
  }

  @Test
  void readmeHasAtMost200LinesAndBeginsWithCode() throws Exception {
    assertShortAndCodeFirst(README, 200);
  }

  @ParameterizedTest
  @MethodSource("chapters")
  void chapterHasAtMost120LinesAndBeginsWithCode(Path chapter) throws Exception {
    assertShortAndCodeFirst(chapter, 120);
  }

  private static void assertShortAndCodeFirst(Path document, int maxLines) throws Exception {
    var lines = Files.readAllLines(document);

    int codeLine = lines.indexOf("```java");
    assertTrue(0 < codeLine && codeLine < 10 && lines.size() <= maxLines,
        () -> lines.size() + " lines, code from line " + (codeLine + 1));
  }

  @ParameterizedTest
  @MethodSource("chapters")
  void chapterHasSectionOnCommonMistake(Path chapter) throws Exception {
    assertTrue(Files.readString(chapter).contains("\n## The mistake"), "the chapter needs a heading '## The mistake'");
  }

  @Test
  void guideListsItsChapters() throws Exception {
    var contents = Files.readString(DOCS.resolve("guide/README.md"));

    assertEquals(16, chapters().size());
    assertEquals(List.of(),
        chapters().stream().filter(chapter -> !contents.contains("(" + chapter.getFileName() + ")")).toList());
  }
}
