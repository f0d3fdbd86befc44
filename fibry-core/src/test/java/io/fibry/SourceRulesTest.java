package io.fibry;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static io.fibry.Repository.ROOT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
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

/** Rules about how sources are written, here and in the other modules. */
class SourceRulesTest {
  private static final Pattern COMMENT = Pattern.compile("\\s*(//|\\*|/\\*).*");
  private static final Pattern FREE_PRONOUN =
      Pattern.compile("(?://|\\*|[.:;] )\\s*(Who|Whoever|Somebody|Nobody|One who) [a-z].*");
  private static final Pattern LONG_STRING = Pattern.compile("\\s*(?:\\+ )?\"(?:[^\"\\\\]|\\\\.)*\"[,;)+ ]*");

  /** Classes that are one concurrent algorithm, and have it explained in one place. */
  private static final Map<String, String> ALGORITHMS = Map.ofEntries(
      Map.entry("PlainQueue", "the queue that is the right to run"),
      Map.entry("Activation", "the drain of one stretch of work, and the slots for woken actors"),
      Map.entry("Cell", "the phases of an actor, which all its queues share"),
      Map.entry("PoolCell", "the actor in front of a pool, and its workers"),
      Map.entry("RequestFuture", "the races of a request with its asker and its handler"),
      Map.entry("GuardedQueue", "the queue with a monitor, and its entrance without"),
      Map.entry("ScopeCloser", "the close of a tree of scopes"),
      Map.entry("LogWriter", "the thread that writes and syncs the log"),
      Map.entry("DurableRuntime", "the life of a durable actor"),
      Map.entry("PendingDelivery", "the order in which waiting messages are given"),
      Map.entry("PartitionCoordinator", "the hand-over of a part between nodes"));

  /** Folders of what is published: the simulator has three. */
  private static final String MAIN = "(?:main|boot|agent)";

  /** Java and Kotlin, but not the programs of others. */
  private static List<Path> sources(String where) {
    return Repository.files(".java", ".kt").stream()
        .filter(file -> file.toString().matches(".*/src/" + where + "/.*"))
        .filter(file -> !file.toString().contains("/resources/")).toList();
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** The lines for which it holds; outside text blocks, whose lines are what they are. */
  private static List<String> linesWhere(String where, BiPredicate<String, Boolean> isWrong) {
    var wrong = new ArrayList<String>();
    for (var file : sources(where)) {
      boolean text = false;
      int number = 0;
      for (var line : lines(file)) {
        number++;
        boolean turns = line.split("\"\"\"", -1).length % 2 == 0;
        if (!text && !turns && isWrong.test(line, COMMENT.matcher(line).matches()))
          wrong.add(ROOT.relativize(file) + ":" + number + ": " + line.strip());
        text ^= turns;
      }
    }
    return wrong;
  }

  @Test
  void linesOfCodeHave120ColumnsAndCommentsHave100() {
    assertEquals(List.of(), linesWhere(MAIN, (line, comment) -> line.length() > (comment ? 100 : 120)));
    assertEquals(List.of(), linesWhere("test", (line, comment) -> line.length() > (comment ? 100 : 120)
        && !LONG_STRING.matcher(line).matches()));
  }

  @Test
  void noSentenceOfACommentBeginsWithAFreePronoun() {
    assertEquals(List.of(),
        linesWhere("(?:" + MAIN + "|test)", (line, comment) -> comment && FREE_PRONOUN.matcher(line).matches()));
  }

  @Test
  void medianFileHasAtMost100Lines() {
    var sizes = sources("main").stream().filter(file -> file.startsWith(ROOT.resolve("fibry-core")))
        .map(file -> lines(file).size()).sorted().toList();

    assertTrue(sizes.get(sizes.size() / 2) <= 100, "the median file has " + sizes.get(sizes.size() / 2) + " lines");
  }

  @Test
  void noFileIsLong() {
    var tooLong = Stream.of(MAIN, "test").flatMap(where -> sources(where).stream())
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
  void nothingIsPrinted() {
    noClasses().should().accessField(System.class, "out").orShould().accessField(System.class, "err").orShould()
        .callMethod(Throwable.class, "printStackTrace").check(ArchitectureTest.MAIN);
  }

  @Test
  void nothingSleeps() {
    noClasses().should().callMethod(Thread.class, "sleep", long.class).orShould()
        .callMethod(Thread.class, "sleep", long.class, int.class).orShould()
        .callMethod(Thread.class, "sleep", Duration.class).check(ArchitectureTest.MAIN);
  }
}
