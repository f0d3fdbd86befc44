package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Child;
import io.fibry.support.Soak;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs every example as a module, as {@code mvn -Prun} does, and checks its output. The examples
 * share a JVM, except examples that measure the JVM or need a second process.
 */
class ExamplesTest {
  private static final Path SOURCES = Path.of("src/main/java/io/fibry/examples");

  /** Arguments that make an example short. */
  private static final Map<String, String> ARGUMENTS = Map.of("ContextSwitch", "500", "EntitiesExample", "1000",
      "HooksExample", "500", "IotGateway", "100", "ManyActors", "10000");

  /** Matches a row of the tour: a measurement, its reference, and a sentence. */
  private static final Pattern TOUR_ROW = Pattern.compile("""
      (?m)^(?<row>\\S.*?) +(?<value>[\\d.,]+) (ns|us|ms|bytes) +((?<carriers>[\\d.,]+) (ns|us|ms))?   \
      (?<ratio>[\\d.]+) x the (time|heap)
        \\S.*? +(?<reference>[\\d.,]+) (ns|us|ms|bytes)
          -> \\S.*""");

  @TempDir
  private static Path temporaryFolder; // where the examples create temporary files

  @TempDir
  private Path folder;

  private static ProgramJvm jvm;

  @BeforeAll
  static void openJvm() {
    jvm = ProgramJvm.ofModules(modules(), "-Djava.io.tmpdir=" + temporaryFolder);
  }

  @AfterAll
  static void closeJvm() {
    jvm.close();
  }

  static Iterable<String> examples() {
    return ExpectedOutput.FIRST_RUN.keySet();
  }

  /**
   * Compares the whole text. If time limits affect the text, compares only the form of its first
   * line, and SimulatedExamplesTest compares the whole text.
   */
  @ParameterizedTest
  @MethodSource("examples")
  void examplePrintsExpectedText(String example) throws Exception {
    var printedText = ARGUMENTS.containsKey(example) ? jvm.run(example, ARGUMENTS.get(example)) : jvm.run(example);

    var expected = ExpectedOutput.FIRST_RUN.get(example);
    if (ExpectedOutput.WITH_LIMITS.contains(example))
      assertEquals(ExpectedOutput.firstLineForm(expected), ExpectedOutput.firstLineForm(printedText), printedText);
    else assertEquals(expected, ExpectedOutput.withoutTime(printedText));
    try (var leftFiles = Files.list(temporaryFolder)) {
      assertEquals(List.of(), leftFiles.toList());
    }
  }

  /** Returns the examples that store data, except Bank, whose second run is another process. */
  static Stream<String> examplesThatStore() {
    return ExpectedOutput.SECOND_RUN.keySet().stream().filter(example -> !example.equals("Bank"));
  }

  @ParameterizedTest
  @MethodSource("examplesThatStore")
  void secondRunReadsStateOfFirstRun(String example) {
    var dataFolder = folder.resolve("home").toString();

    assertEquals(ExpectedOutput.FIRST_RUN.get(example), jvm.run(example, dataFolder));
    assertEquals(ExpectedOutput.SECOND_RUN.get(example), jvm.run(example, dataFolder));
  }

  @Test
  void secondProcessReadsStateOfFirstProcess() {
    var dataFolder = folder.resolve("home").toString();

    assertEquals(ExpectedOutput.FIRST_RUN.get("Bank"), jvm.run("Bank", dataFolder));
    assertEquals(ExpectedOutput.SECOND_RUN.get("Bank"), run(List.of(), "Bank", dataFolder));
  }

  /** Runs the examples without the arguments that make them short. */
  @Soak(counterpart = "ExamplesTest.examplePrintsExpectedText")
  @ParameterizedTest
  @ValueSource(strings = {"ContextSwitch", "EntitiesExample", "HooksExample", "ManyActors", "Tour"})
  void exampleRunsAtFullSize(String example) {
    assertNotEquals("", run(List.of(), example));
  }

  @Test
  void tourShowsEachMeasurementWithItsReference() {
    var printedText = run(List.of("-Xmx512m"), "Tour", "2", "20000");

    var rows = TOUR_ROW.matcher(printedText).results().toList();
    assertEquals(List.of("make 20,000 actors", "heap of an idle actor", "message to an actor, one sender",
        "message to an actor, 4 senders", "hand-over between two actors", "ask an actor, and wait for its answer",
        "2,000 handlers that block for 100 ms, all at once"), rows.stream().map(row -> row.group("row")).toList(),
        printedText);
    for (var row : rows) for (var group : List.of("value", "ratio", "reference"))
      assertTrue(number(row.group(group)) > 0, group + " of " + row.group());
    assertEquals(rows.size(), printedText.lines().filter(line -> line.startsWith("    -> ")).count(), printedText);
    assertFalse(printedText.contains("too small"), printedText);
    var onCarriers = rows.stream().map(row -> row.group("carriers")).toList();
    assertEquals(Arrays.asList(null, null), onCarriers.subList(0, 2), printedText);
    for (var value : onCarriers.subList(2, rows.size())) assertTrue(number(value) > 0, printedText);
  }

  @Test
  void tourMakesFewerActorsWhenHeapIsSmall() {
    var printedText = run(List.of("-Xmx32m"), "Tour", "2");

    assertFewer("make ([\\d,]+) actors .*", 1_000_000, printedText);
    assertFewer("([\\d,]+) handlers that block .*", 100_000, printedText);
  }

  /** Asserts that the tour makes fewer actors than requested, and prints the reason. */
  private static void assertFewer(String row, int requested, String printedText) {
    var match = Pattern.compile("(?m)^" + row + "\\n.*\\n +-> The heap is too small for ([\\d,]+)\\.")
        .matcher(printedText);
    assertTrue(match.find(), printedText);
    assertEquals(requested, number(match.group(2)));
    assertTrue(number(match.group(1)) < requested, printedText);
  }

  private static double number(String text) {
    return Double.parseDouble(text.replace(",", ""));
  }

  /** The printed cycle may begin with either actor. */
  @Test
  void deadlockExamplePrintsCycle() {
    var printedText = jvm.run("Deadlock");

    var links = List.of("'ann' waits for 'bob' (\"what does Bob want?\")",
        "'bob' waits for 'ann' (\"what does Ann want?\")");
    assertTrue(
        printedText.contains(String.join(", ", links)) || printedText.contains(String.join(", ", links.reversed())),
        printedText);
    assertTrue(printedText.endsWith("ann goes on: yes"), printedText);
  }

  @Test
  void everyExampleIsTested() throws Exception {
    var testedExamples = new TreeSet<>(ExpectedOutput.FIRST_RUN.keySet());
    testedExamples.addAll(SimulatedExamplesTest.BUGS.keySet());
    testedExamples.addAll(List.of("Tour", "Deadlock"));

    assertEquals(testedExamples,
        sources(1).stream().map(ExamplesTest::name).collect(Collectors.toCollection(TreeSet::new)));
  }

  private static String name(Path source) {
    return source.getFileName().toString().replace(".java", "");
  }

  @Test
  void listCommandDescribesEachExampleInOneLine() throws Exception {
    var lines = run(List.of(), "list").lines().map(String::strip).toList();

    assertEquals(List.of(), sources(1).stream().map(ExamplesTest::name)
        .filter(name -> lines.stream().noneMatch(line -> line.matches(name + " +[A-Z][^{*]{15,95}\\."))).toList());
  }

  @Test
  void unknownExampleNamePrintsListAndNearestName() {
    var list = jvm.run("list");

    assertEquals(list + "\nThere is no example 'Helo'. Did you mean Hello?", jvm.run("Helo"));
    assertEquals(list + "\nThere is no example 'pool'. Did you mean WorkerPools?", jvm.run("pool"));
    assertEquals(list + "\nThere is no example 'Nope'.", jvm.run("Nope"));
  }

  @Test
  void exampleExceptTourHasAtMost60Lines() throws Exception {
    for (var source : sources(2)) {
      int lines = Files.readAllLines(source).size();
      assertTrue(lines <= 60 || source.endsWith("Tour.java"), source + " has " + lines + " lines");
    }
  }

  private static List<Path> sources(int depth) throws Exception {
    try (var files = Files.walk(SOURCES, depth)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }

  /** Runs an example in its own JVM, as {@code mvn -Prun} does, and returns its output. */
  static String run(List<String> flags, String... exampleAndArguments) {
    var command = new ArrayList<>(flags);
    command.addAll(List.of("-Dfibry.carriers=off", "-XX:+EnableDynamicAgentLoading", "--add-modules", "java.instrument",
        "--add-reads", "io.fibry.examples=ALL-UNNAMED", "--class-path", testKits()));
    command.addAll(List.of("--module-path", modules(), "--module", "io.fibry.examples/io.fibry.examples.start.Start"));
    command.addAll(List.of(exampleAndArguments));
    try (var child = Child.java(command)) {
      return child.awaitExit(0).strip();
    }
  }

  /** Returns the module path of a program that uses the library. */
  static String modules() {
    return joinEntries(entry -> !entry.contains("test-classes") && !isTestKit(entry) && !entry.contains("junit")
        && !entry.contains("opentest4j") && !entry.contains("apiguardian") && !entry.contains("ecj"));
  }

  /** Returns the class path of the test libraries, which have no module descriptors. */
  private static String testKits() {
    return joinEntries(ExamplesTest::isTestKit);
  }

  private static boolean isTestKit(String entry) {
    return entry.contains("fibry-test") || entry.contains("fibry-simulation");
  }

  private static String joinEntries(Predicate<String> filter) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).filter(filter)
        .collect(Collectors.joining(File.pathSeparator));
  }
}
