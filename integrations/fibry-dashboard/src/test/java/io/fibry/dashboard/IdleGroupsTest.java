package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which actors the page folds into one line. */
class IdleGroupsTest {
  private static ActorRow row(ActorStats stats, int scope) {
    return new ActorRow(stats, scope, ActorTrend.first(stats));
  }

  private static List<ActorRow> rows(String prefix, int count, int scope) {
    return IntStream.range(0, count)
        .mapToObj(i -> row(Stats.of(prefix + i).withHandled(2).withFailed(1).get(), scope)).toList();
  }

  private static String letters(int number) {
    return "" + (char) ('a' + number / 5) + (char) ('a' + number % 5);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"echo | echo", "session-17 | session-*", "session17 | session*",
    "session-4f1a | session-*", "9c3e2b1a-77aa-41d0 | *-*-*", "web/12 | web/*", "orders: Ada | orders:*",
    "anonymous@abcdef | anonymous@*", "two words | two words", "3 | *", "ends/ | ends/"})
  void patternReplacesVaryingPartOfNameByAsterisk(String name, String pattern) {
    assertEquals(pattern, IdleGroups.pattern(name));
  }

  @Test
  void idleActorsWithAlikeNamesAreOneGroupForEachScope() {
    var rows = new ArrayList<>(rows("session-", 200, 0));
    rows.addAll(rows("session-", 5, 1));
    rows.addAll(rows("pump-", IdleGroups.MIN_ALIKE - 1, 0));

    var groups = new IdleGroups(rows);

    assertEquals(
        "[{\"scope\":0,\"name\":\"session-*\",\"kind\":\"FIBER\",\"actors\":200,\"working\":0,\"waiting\":0,\"handled\":400,"
            + "\"perSecond\":null,\"failed\":200,\"refused\":0,\"dropped\":0},{\"scope\":1,\"name\":\"session-*\","
            + "\"kind\":\"FIBER\",\"actors\":5,\"working\":0,\"waiting\":0,\"handled\":10,\"perSecond\":null,\"failed\":5,"
            + "\"refused\":0,\"dropped\":0}]",
        JsonText.of(groups.maps()));
    assertEquals(List.of(0, 1, -1),
        List.of(groups.indexOf(rows.get(7)), groups.indexOf(rows.get(200)), groups.indexOf(rows.getLast())));
  }

  @Test
  void groupHasRateOfItsActorsOnceItIsKnown() {
    var idle = Stats.of("web/1").withHandled(7).get();
    var trend = ActorTrend.first(idle).next(idle, 10_000_000_000L);
    var rows = IntStream.range(0, 5).mapToObj(i -> new ActorRow(idle, 0, trend)).toList();

    assertEquals(0.0, new IdleGroups(rows).maps().getFirst().get("perSecond"));
  }

  @Test
  void connectionsOfServerAreOneGroupWhileTheyWork() {
    var rows = new ArrayList<ActorRow>();
    rows.add(row(Stats.of("web/1").withState(ActorState.AWAITING_STEP).get(), 0));
    rows.add(row(Stats.of("web/2").withState(ActorState.BUSY).withMessageType("GET /orders/{id}").withQueued(1)
        .withBusyFor(Duration.ofSeconds(1)).get(), 0));
    var stuck = Stats.of("web/3").withMessageType("GET /stuck").withBusyFor(Duration.ofMinutes(1)).get();
    rows.add(new ActorRow(stuck, 0, ActorTrend.first(stuck).withProblems(List.of(ActorProblem.STUCK), 0)));
    rows.add(row(Stats.of("sold/1").withState(ActorState.BUSY).withMessageType("Order").get(), 0));
    rows.add(row(Stats.of("sold/2").get(), 0));

    var groups = new IdleGroups(rows);

    assertEquals(List.of(0, 0, -1, -1, -1), rows.stream().map(groups::indexOf).toList());
    assertTrue(JsonText.of(groups.maps()).startsWith("[{\"scope\":0,\"name\":\"web/*\",\"kind\":\"FIBER\","
        + "\"actors\":2,\"working\":1,\"waiting\":1,"), groups.maps()::toString);
  }

  @Test
  void manyIdleActorsWithUnlikeNamesFormGroupForTheirKind() {
    var rows = IntStream.range(0, 25)
        .mapToObj(i -> row(Stats.of(letters(i)).withKind(i < 5 ? "THREAD" : "FIBER").get(), 0)).toList();

    var groups = new IdleGroups(rows);

    assertEquals(
        "[{\"scope\":0,\"name\":\"\",\"kind\":\"FIBER\",\"actors\":20,\"working\":0,\"waiting\":0,\"handled\":0,\"perSecond\":null,\"failed\":0,"
            + "\"refused\":0,\"dropped\":0}]",
        JsonText.of(groups.maps()));
    assertEquals(-1, groups.indexOf(rows.getFirst()));
    assertEquals(0, groups.indexOf(rows.getLast()));
  }

  @Test
  void actorIsQuietTenSecondsAfterItsLastMessage() {
    var idle = Stats.of("x").withHandled(7).get();
    assertTrue(row(idle, 0).isQuiet());
    assertFalse(row(Stats.of("x").withQueued(1).get(), 0).isQuiet());
    assertFalse(row(Stats.of("x").withBusyFor(Duration.ofNanos(1)).get(), 0).isQuiet());
    assertFalse(row(Stats.of("x").withState(ActorState.READY).get(), 0).isQuiet());
    assertTrue(row(Stats.of("x").withState(ActorState.AWAITING_STEP).get(), 0).isQuiet());
    assertFalse(new ActorRow(idle, 0, ActorTrend.first(idle).withProblems(List.of(ActorProblem.FAILING), 0)).isQuiet());

    var trend = ActorTrend.first(Stats.of("x").withHandled(6).get()).next(idle, 1_000_000_000);
    for (int second = 0; second < 10; second++) {
      assertFalse(new ActorRow(idle, 0, trend).isQuiet());
      trend = trend.next(idle, 1_000_000_000);
    }
    assertTrue(new ActorRow(idle, 0, trend).isQuiet());
  }
}
