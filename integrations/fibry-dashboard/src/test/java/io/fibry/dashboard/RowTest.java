package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats.ActorState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowTest {

  private static ActorRow row(int number, long waitingCount, long failedCount, int busyMillis, long refusedCount) {
    var stats = Stats.of("actor-" + number).withQueued(waitingCount).withFailed(failedCount)
        .withBusyFor(Duration.ofMillis(busyMillis)).withRefused(refusedCount).get();
    return new ActorRow(stats, 0, ActorTrend.first(stats));
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
    var oldest = Stats.of("actor-9995").withQueued(1).withOldestWaiting(Duration.ofHours(1)).get();
    rows.set(9_995, new ActorRow(oldest, 0, ActorTrend.first(oldest)));
    rows.set(9_996, row(9_996, 50_000, 0, 0, 0));
    rows.set(9_997, row(9_997, 0, 50_000, 0, 0));
    rows.set(9_998, row(9_998, 0, 0, 50_000, 0));
    rows.set(9_999, row(9_999, 0, 0, 0, 50_000));

    var chosen = choose(rows);

    assertEquals(ActorRow.MAX_ROWS, chosen.size());
    assertEquals(List.of("actor-9995", "actor-9996", "actor-9997", "actor-9998", "actor-9999"),
        names(chosen).subList(495, 500));
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
      rows.set(i, new ActorRow(stats, 0, ActorTrend.first(stats).withProblems(List.of(ActorProblem.GROWING), 0)));
    }

    var chosen = choose(rows);

    assertEquals(ActorRow.MAX_ROWS, chosen.size());
    assertEquals(200, chosen.stream().filter(ActorRow::hasProblem).count());
  }

  @Test
  void mostUrgentProblemsAreChosenIfThereAreTooMany() {
    var rows = new ArrayList<ActorRow>();
    for (int i = 0; i < 10_000; i++) {
      var stats = row(i, 0, 0, 0, 0).stats();
      rows.add(new ActorRow(stats, 0, ActorTrend.first(stats)
          .withProblems(List.of(i < 9_900 ? ActorProblem.FAILING : ActorProblem.STUCK), 0)));
    }

    assertEquals(100, choose(rows).stream().filter(row -> row.problems().contains(ActorProblem.STUCK)).count());
  }

  @Test
  void foldedRowsFillOnlyPlacesThatRemain() {
    var rows = IntStream.range(0, 1_000).mapToObj(i -> row(i, 0, 0, 0, 0)).toList();

    var chosen = names(ActorRow.choose(rows, row -> row.stats().name().length() < 9)); // the first hundred

    assertEquals("actor-100", chosen.getFirst());
    assertEquals(ActorRow.MAX_ROWS, chosen.size());
  }

  @Test
  void waitOfOldestMessageIsShownOnceItIsKnown() {
    var stats = Stats.of("x").withQueued(3);
    var first = new ActorRow(stats.get(), 0, ActorTrend.first(stats.get()));
    var later = stats.withOldestWaiting(Duration.ofSeconds(12)).get();

    assertFalse(first.asMap(false, -1).containsKey("oldestMillis"));
    assertEquals(12_000L,
        new ActorRow(later, 0, ActorTrend.first(later)).asMap(false, -1).get("oldestMillis"));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"IDLE | idle", "READY | about to begin", "BUSY | handles a message",
    "AWAITING_STEP | waits", "SUSPENDED | is suspended after a failure", "ENDING | ends",
    "CUT_OFF | cut off, its handler still runs"})
  void stateIsShownInsteadOfTextWithMessage(ActorState state, String shownActivity) {
    assertEquals(shownActivity, ActorRow.withoutTexts(Stats.of("x").withState(state).get()));
  }

  @Test
  void awaitedActorAndBusyWorkersAreShown() {
    assertEquals("waits for 'y'", ActorRow.withoutTexts(Stats.of("x").awaiting("y").get()));
    assertEquals("handles Order",
        ActorRow.withoutTexts(Stats.of("x").withState(ActorState.BUSY).withMessageType("Order").get()));
    assertEquals("waits for 'y' in Order",
        ActorRow.withoutTexts(Stats.of("x").awaiting("y").withMessageType("Order").get()));
    assertEquals("3 of 4 at work, for longest with Order",
        ActorRow.withoutTexts(Stats.of("x").withWorkers(3, 4).withMessageType("Order").get()));
    assertEquals("0 of 3 at work", ActorRow.withoutTexts(Stats.of("x").withWorkers(0, 3).get()));
    assertEquals("3 of 4 at work",
        ActorRow.withoutTexts(Stats.of("x").withState(ActorState.BUSY).withWorkers(3, 4).get()));
  }
}
