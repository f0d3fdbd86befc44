package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowTest {

  private static ActorRow row(int number, long waitingCount, long failedCount, int busyMillis, long refusedCount) {
    var stats = Stats.of("actor-" + number).withQueued(waitingCount).withFailed(failedCount)
        .withBusyFor(Duration.ofMillis(busyMillis)).withRefused(refusedCount).get();
    return new ActorRow(stats, 0, ActorTrend.first(stats), List.of());
  }

  private static List<ActorRow> choose(List<ActorRow> rows) {
    return ActorRow.choose(rows, row -> false);
  }

  private static List<String> names(List<ActorRow> rows) {
    return rows.stream().map(row -> row.stats().name()).toList();
  }

  @Test
  void allActorRowsAreShownUpToMaximum() {
    var rows = IntStream.range(0, ActorRow.MAX_ROWS).mapToObj(i -> row(i, 0, 0, 0, 0)).toList();

    assertEquals(rows, choose(rows));
  }

  @Test
  void topRowsOfEachMeasureAreShownInOriginalOrder() {
    var rows = new ArrayList<ActorRow>();
    for (int i = 0; i < 10_000; i++) rows.add(row(i, i % 7, i % 5, i % 3, 0));
    rows.set(9_996, row(9_996, 50_000, 0, 0, 0));
    rows.set(9_997, row(9_997, 0, 50_000, 0, 0));
    rows.set(9_998, row(9_998, 0, 0, 50_000, 0));
    rows.set(9_999, row(9_999, 0, 0, 0, 50_000));

    var chosen = choose(rows);

    assertEquals(ActorRow.MAX_ROWS, chosen.size());
    assertEquals(List.of("actor-9996", "actor-9997", "actor-9998", "actor-9999"), names(chosen).subList(496, 500));
    assertEquals(chosen, rows.stream().filter(chosen::contains).toList());
  }

  @Test
  void idleActorsFillRemainingRows() {
    var rows = IntStream.range(0, 600).mapToObj(i -> row(i, i == 599 ? 1 : 0, 0, 0, 0)).toList();

    var chosen = names(choose(rows));

    assertEquals(ActorRow.MAX_ROWS, chosen.size());
    assertTrue(chosen.contains("actor-0") && chosen.contains("actor-599"), chosen::toString);
  }

  @Test
  void rowsWithProblemsAreChosenBeforeAllOthers() {
    var rows = new ArrayList<ActorRow>();
    for (int i = 0; i < 10_000; i++) rows.add(row(i, 100, 100, 100, 100));
    for (int i = 9_000; i < 9_200; i++) {
      var stats = rows.get(i).stats();
      rows.set(i, new ActorRow(stats, 0, ActorTrend.first(stats), List.of(ActorProblem.GROWING)));
    }

    var chosen = choose(rows);

    assertEquals(ActorRow.MAX_ROWS, chosen.size());
    assertEquals(200, chosen.stream().filter(ActorRow::hasProblem).count());
  }

  @Test
  void mostUrgentProblemsAreShownWhenProblemsExceedMaxRows() {
    var rows = new ArrayList<ActorRow>();
    for (int i = 0; i < 10_000; i++) {
      var stats = row(i, 0, 0, 0, 0).stats();
      rows.add(new ActorRow(stats, 0, ActorTrend.first(stats),
          List.of(i < 9_900 ? ActorProblem.FAILING : ActorProblem.STUCK)));
    }

    assertEquals(100, choose(rows).stream().filter(row -> row.problems().contains(ActorProblem.STUCK)).count());
  }

  @Test
  void foldedRowsAreChosenOnlyAfterAllOtherRows() {
    var rows = IntStream.range(0, 1_000).mapToObj(i -> row(i, 0, 0, 0, 0)).toList();

    var chosen = names(ActorRow.choose(rows, row -> row.stats().name().length() < 9)); // the first hundred

    assertEquals("actor-100", chosen.getFirst());
    assertEquals(ActorRow.MAX_ROWS, chosen.size());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"idle | idle", "is idle | idle", "ends | ends", "is busy | is busy",
    "is suspended after a failure | is suspended after a failure", "3 of 4 at work | 3 of 4 at work",
    "cut off, its handler still runs | cut off, its handler still runs",
    "is between two messages | between messages", "was about to begin its next message | between messages",
    "is handling idle | handles a message",
    "has been handling \"3 of 4 at work\" for at least 3 s | handles a message",
    "is handling X, where it waits for the answer of 'y' to secret | handles a message",
    "waits for Password[secret] | waits", "was woken by 'x', and has not begun yet | about to begin",
    "has been given no thread yet by secret | about to begin", "something new: secret | handles a message"})
  void messageTextsAreRemovedFromRows(String activity, String shownActivity) {
    assertEquals(shownActivity, ActorRow.withoutTexts(activity));
  }

  /**
   * The row and its problems recognize activities by the engine's texts. If the engine changed a
   * text, a suspended actor would look like a running actor.
   */
  @Test
  void activityTextsThatDashboardRecognizesExistInEngine() throws IOException {
    var engine = Files.readString(Path.of("../../fibry-core/src/main/java/io/fibry/engine/cell/ActorInspector.java"));
    var row = Files.readString(Path.of("src/main/java/io/fibry/dashboard/ActorRow.java"));
    var problems = Files.readString(Path.of("src/main/java/io/fibry/dashboard/ActorProblem.java"))
        + Files.readString(Path.of("src/main/java/io/fibry/dashboard/ActorTrend.java"));
    var switchBody = row.substring(row.indexOf("switch (activity)"), row.indexOf("yield \"handles a message\""));
    var cases = Pattern.compile("(?m)^ *case (.*) ->").matcher(switchBody).results().map(match -> match.group(1))
        .collect(Collectors.joining());
    var texts = Stream
        .of(Pattern.compile("\"([^\"]+)\"").matcher(cases),
            Pattern.compile("startsWith\\(\"(.*?)\"").matcher(switchBody + problems))
        .flatMap(Matcher::results).map(match -> match.group(1)).toList();

    assertEquals(15, texts.size(), texts::toString);
    assertEquals(List.of(), texts.stream().filter(text -> !engine.contains('"' + text)).toList());
  }
}
