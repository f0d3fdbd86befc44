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
 * Runs every example as {@code mvn -Prun} does, as a module, and checks what it prints. They share
 * a JVM, unless the JVM is what an example is about.
 */
class ExamplesTest {
  private static final Path SOURCES = Path.of("src/main/java/io/fibry/examples");

  /** Arguments that make an example short. */
  private static final Map<String, String> ARGUMENTS = Map.of("ContextSwitch", "500", "EntitiesExample", "1000",
      "HooksExample", "500", "IotGateway", "100", "ManyActors", "10000");

  /** A row of the tour: the measurement, its reference, and a sentence. */
  private static final Pattern TOUR_ROW = Pattern.compile("""
      (?m)^(?<row>\\S.*?) +(?<figure>[\\d.,]+) (ns|us|ms|bytes)   (?<ratio>[\\d.]+) x the (time|heap)
        \\S.*? +(?<reference>[\\d.,]+) (ns|us|ms|bytes)
          -> \\S.*""");

  @TempDir
  private static Path temporary; // of the examples

  @TempDir
  private Path folder;

  private static Stage stage;

  @BeforeAll
  static void openStage() {
    stage = Stage.ofModules(modules(), "-Djava.io.tmpdir=" + temporary);
  }

  @AfterAll
  static void closeStage() {
    stage.close();
  }

  static Iterable<String> examples() {
    return Printed.FIRST.keySet();
  }

  /** SimulatedExamplesTest checks the whole text of the timed ones. */
  @ParameterizedTest
  @MethodSource("examples")
  void examplePrintsExpectedText(String example) throws Exception {
    var printed = ARGUMENTS.containsKey(example) ? stage.run(example, ARGUMENTS.get(example)) : stage.run(example);

    var expected = Printed.FIRST.get(example);
    if (Printed.TIMED.contains(example)) assertEquals(Printed.form(expected), Printed.form(printed), printed);
    else assertEquals(expected, Printed.withoutTime(printed));
    try (var left = Files.list(temporary)) {
      assertEquals(List.of(), left.toList());
    }
  }

  /** All examples that store, except Bank: its second run is another process. */
  static Stream<String> examplesThatStore() {
    return Printed.AGAIN.keySet().stream().filter(example -> !example.equals("Bank"));
  }

  @ParameterizedTest
  @MethodSource("examplesThatStore")
  void secondRunReadsStateOfFirstRun(String example) {
    var home = folder.resolve("home").toString();

    assertEquals(Printed.FIRST.get(example), stage.run(example, home));
    assertEquals(Printed.AGAIN.get(example), stage.run(example, home));
  }

  @Test
  void secondProcessReadsStateOfFirstProcess() {
    var home = folder.resolve("home").toString();

    assertEquals(Printed.FIRST.get("Bank"), stage.run("Bank", home));
    assertEquals(Printed.AGAIN.get("Bank"), run(List.of(), "Bank", home));
  }

  /** With all actors, or with as many as its arguments say. */
  @Soak(counterpart = "ExamplesTest.examplePrintsExpectedText")
  @ParameterizedTest
  @ValueSource(strings = {"ContextSwitch", "EntitiesExample", "HooksExample", "ManyActors", "Tour"})
  void exampleRunsAtFullSize(String example) {
    assertNotEquals("", run(List.of(), example));
  }

  @Test
  void tourShowsEveryFigureBesideItsReference() {
    var printed = run(List.of("-Xmx512m"), "Tour", "2", "20000");

    var rows = TOUR_ROW.matcher(printed).results().toList();
    assertEquals(List.of("make 20,000 actors", "heap of an idle actor", "message to an actor, one sender",
        "message to an actor, 4 senders", "hand-over between two actors", "ask an actor, and wait for its answer",
        "2,000 handlers that block for 100 ms, all at once"), rows.stream().map(row -> row.group("row")).toList(),
        printed);
    for (var row : rows) for (var figure : List.of("figure", "ratio", "reference"))
      assertTrue(number(row.group(figure)) > 0, figure + " of " + row.group());
    assertEquals(rows.size(), printed.lines().filter(line -> line.startsWith("    -> ")).count(), printed);
    assertFalse(printed.contains("too small"), printed);
  }

  @Test
  void tourTakesFewerActorsWhereTheHeapIsSmall() {
    var printed = run(List.of("-Xmx32m"), "Tour", "2");

    assertFewer("make ([\\d,]+) actors .*", 1_000_000, printed);
    assertFewer("([\\d,]+) handlers that block .*", 100_000, printed);
  }

  /** Asserts that the tour makes fewer actors than it was asked for, and prints why. */
  private static void assertFewer(String row, int wanted, String printed) {
    var taken = Pattern.compile("(?m)^" + row + "\\n.*\\n +-> The heap is too small for ([\\d,]+)\\.").matcher(printed);
    assertTrue(taken.find(), printed);
    assertEquals(wanted, number(taken.group(2)));
    assertTrue(number(taken.group(1)) < wanted, printed);
  }

  private static double number(String figure) {
    return Double.parseDouble(figure.replace(",", ""));
  }

  /** The ring may begin with either actor. */
  @Test
  void deadlockShowsTheRing() {
    var printed = stage.run("Deadlock");

    var links = List.of("'ann' waits for 'bob' (\"what does Bob want?\")",
        "'bob' waits for 'ann' (\"what does Ann want?\")");
    assertTrue(printed.contains(String.join(", ", links)) || printed.contains(String.join(", ", links.reversed())),
        printed);
    assertTrue(printed.endsWith("ann goes on: yes"), printed);
  }

  @Test
  void everyExampleIsRunHere() throws Exception {
    var tested = new TreeSet<>(Printed.FIRST.keySet());
    tested.addAll(SimulatedExamplesTest.BUGS.keySet());
    tested.addAll(List.of("Tour", "Deadlock"));

    assertEquals(tested, sources(1).stream().map(ExamplesTest::name).collect(Collectors.toCollection(TreeSet::new)));
  }

  private static String name(Path source) {
    return source.getFileName().toString().replace(".java", "");
  }

  @Test
  void listSaysInOneLineWhatEachExampleShows() throws Exception {
    var listed = run(List.of(), "list").lines().map(String::strip).toList();

    assertEquals(List.of(), sources(1).stream().map(ExamplesTest::name)
        .filter(name -> listed.stream().noneMatch(line -> line.matches(name + " +[A-Z][^{*]{15,95}\\."))).toList());
  }

  @Test
  void unknownNameGivesTheListAndTheNearestName() {
    var list = stage.run("list");

    assertEquals(list + "\nThere is no example 'Helo'. Did you mean Hello?", stage.run("Helo"));
    assertEquals(list + "\nThere is no example 'pool'. Did you mean WorkerPools?", stage.run("pool"));
    assertEquals(list + "\nThere is no example 'Nope'.", stage.run("Nope"));
  }

  @Test
  void examplesAreShort() throws Exception {
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

  /** Runs an example as {@code mvn -Prun} does, in a JVM of its own; returns what it prints. */
  static String run(List<String> flags, String... example) {
    var command = new ArrayList<>(flags);
    command.addAll(List.of("-XX:+EnableDynamicAgentLoading", "--add-modules", "java.instrument", "--add-reads",
        "io.fibry.examples=ALL-UNNAMED", "--class-path", testKits()));
    command.addAll(List.of("--module-path", modules(), "--module", "io.fibry.examples/io.fibry.examples.start.Start"));
    command.addAll(List.of(example));
    try (var child = Child.java(command)) {
      return child.ended(0).strip();
    }
  }

  /** The module path of a program that uses the library. */
  static String modules() {
    return parts(part -> !part.contains("test-classes") && !isTestKit(part) && !part.contains("junit")
        && !part.contains("opentest4j") && !part.contains("apiguardian") && !part.contains("ecj"));
  }

  /** Those that have no descriptor. */
  private static String testKits() {
    return parts(ExamplesTest::isTestKit);
  }

  private static boolean isTestKit(String part) {
    return part.contains("fibry-test") || part.contains("fibry-simulation");
  }

  private static String parts(Predicate<String> chosen) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).filter(chosen)
        .collect(Collectors.joining(File.pathSeparator));
  }
}
