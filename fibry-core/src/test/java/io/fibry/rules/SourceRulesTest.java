package io.fibry.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static io.fibry.rules.Repository.ROOT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the form of the sources of all modules. */
class SourceRulesTest {
  private static final Pattern COMMENT = Pattern.compile("\\s*(//|\\*|/\\*).*");
  private static final Pattern UNCLEAR_PRONOUN =
      Pattern.compile("(?://|\\*|[.:;] )\\s*(Who|Whoever|Somebody|Nobody|One who) [a-z].*");
  private static final Pattern TEST_INCLUDE = Pattern.compile("<testInclude>(.*)</testInclude>");
  private static final Pattern LONG_STRING = Pattern.compile("\\s*(?:\\+ )?\"(?:[^\"\\\\]|\\\\.)*\"[,;)+ ]*");

  /**
   * Classes that contain one concurrent algorithm each, and may be longer than others, because a
   * comment explains the algorithm.
   */
  private static final Map<String, String> ALGORITHMS = Map.ofEntries(
      Map.entry("PlainQueue", "the queue that holds the right to run, and its threads"),
      Map.entry("Activation", "the drain of one activation, and the slots for woken actors"),
      Map.entry("Cell", "the phases of an actor, and its end"),
      Map.entry("PoolCell", "the actor in front of a pool, and its workers"),
      Map.entry("RequestFuture", "the races of a request with its asker and its handler"),
      Map.entry("GuardedQueue", "the queue with a monitor, and its lock-free entrance"),
      Map.entry("ScopeCloser", "the close of a tree of scopes"),
      Map.entry("LogWriter", "the thread that writes and syncs the log"),
      Map.entry("DurableRuntime", "the life of a durable actor"),
      Map.entry("PendingDelivery", "the order in which pending messages are delivered"),
      Map.entry("PartitionCoordinator", "the hand-over of a partition between nodes"),
      Map.entry("PartitionGate", "the order of a partition's messages during its hand-over"));

  /** Folders of published code; the simulator has all three. */
  private static final String MAIN = "(?:main|boot|agent)";

  /** Returns sources in Java and Kotlin, without the resources of tests. */
  private static List<Path> sources(String folders) {
    return Repository.files(".java", ".kt").stream()
        .filter(file -> file.toString().matches(".*/src/" + folders + "/.*"))
        .filter(file -> !file.toString().contains("/resources/")).toList();
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the lines outside of text blocks for which the predicate holds. */
  private static List<String> linesWhere(String folders, BiPredicate<String, Boolean> isWrong) {
    var wrongLines = new ArrayList<String>();
    for (var file : sources(folders)) {
      boolean inTextBlock = false;
      int number = 0;
      for (var line : lines(file)) {
        number++;
        boolean hasDelimiter = line.split("\"\"\"", -1).length % 2 == 0;
        if (!inTextBlock && !hasDelimiter && isWrong.test(line, COMMENT.matcher(line).matches()))
          wrongLines.add(ROOT.relativize(file) + ":" + number + ": " + line.strip());
        inTextBlock ^= hasDelimiter;
      }
    }
    return wrongLines;
  }

  /** A test that no pattern of its module's pom.xml matches would be neither compiled nor run. */
  @Test
  void testIncludesOfPomMatchAllTests() throws IOException {
    var omittedTests = new ArrayList<String>();
    for (var pom : Repository.files("pom.xml")) {
      var patterns = TEST_INCLUDE.matcher(Files.readString(pom)).results()
          .map(include -> FileSystems.getDefault().getPathMatcher("glob:" + include.group(1))).toList();
      var folder = pom.resolveSibling("src/test/java");
      for (var test : Repository.files("Test.java"))
        if (!patterns.isEmpty() && test.startsWith(folder)
            && patterns.stream().noneMatch(pattern -> pattern.matches(folder.relativize(test))))
          omittedTests.add(ROOT.relativize(test).toString());
    }
    assertEquals(List.of(), omittedTests);
  }

  @Test
  void codeHasAtMost120ColumnsAndCommentsAtMost100() {
    assertEquals(List.of(), linesWhere(MAIN, (line, comment) -> line.length() > (comment ? 100 : 120)));
    assertEquals(List.of(), linesWhere("test", (line, comment) -> line.length() > (comment ? 100 : 120)
        && !LONG_STRING.matcher(line).matches()));
  }

  @Test
  void commentsBeginWithNoUnclearPronoun() {
    assertEquals(List.of(),
        linesWhere("(?:" + MAIN + "|test)", (line, comment) -> comment && UNCLEAR_PRONOUN.matcher(line).matches()));
  }

  @Test
  void medianFileOfCoreModuleHasAtMost100Lines() {
    var sizes = sources("main").stream().filter(file -> file.startsWith(ROOT.resolve("fibry-core")))
        .map(file -> lines(file).size()).sorted().toList();

    assertTrue(sizes.get(sizes.size() / 2) <= 100, "the median file has " + sizes.get(sizes.size() / 2) + " lines");
  }

  @Test
  void filesHaveAtMost400Lines() {
    var tooLong = Stream.of(MAIN, "test").flatMap(folders -> sources(folders).stream())
        .filter(file -> withoutImports(file) > (ALGORITHMS.containsKey(className(file)) ? 800 : 400))
        .map(ROOT::relativize).toList();

    assertEquals(List.of(), tooLong, "more than 400 lines besides imports, or 800 for an algorithm");
  }

  private static long withoutImports(Path file) {
    return lines(file).stream().filter(line -> !line.startsWith("import ")).count();
  }

  private static String className(Path file) {
    return file.getFileName().toString().replaceFirst("\\.(java|kt)$", "");
  }

  @Test
  void mainCodePrintsNothing() {
    noClasses().should().accessField(System.class, "out").orShould().accessField(System.class, "err").orShould()
        .callMethod(Throwable.class, "printStackTrace").check(ArchitectureTest.MAIN);
  }

  /**
   * A logger of slf4j calls the getMessage of a logged exception. If the call threw, it would end
   * the thread that logs, or leave out what follows the log line.
   */
  @Test
  void publishedCodeLogsBySafeLogger() {
    var unsafeLines = linesWhere(MAIN, (line, comment) -> !comment && line.contains("LoggerFactory.getLogger("))
        .stream().filter(line -> !line.matches("(fibry-bench|examples|integrations/[a-z-]+-(sample|examples))/.*"));

    assertEquals(List.of("SafeLogger.java"),
        unsafeLines.map(line -> line.replaceFirst(".*/([^/:]+):.*", "$1")).toList());
  }

  @Test
  void mainCodeCallsNoSleep() {
    noClasses().should().callMethod(Thread.class, "sleep", long.class).orShould()
        .callMethod(Thread.class, "sleep", long.class, int.class).orShould()
        .callMethod(Thread.class, "sleep", Duration.class).check(ArchitectureTest.MAIN);
  }
}
