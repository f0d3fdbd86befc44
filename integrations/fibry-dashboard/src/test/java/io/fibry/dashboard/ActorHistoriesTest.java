package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the counts that a dashboard keeps of actors with problems. */
class ActorHistoriesTest {
  private static final long SECOND = 1_000_000_000;

  private final ActorHistories histories = new ActorHistories();

  private static ActorRow row(String name, long queued) {
    var stats = Stats.of(name).withQueued(queued).withFailed(2).withRefused(2).withDropped(1).get();
    return new ActorRow(stats, 0, ActorTrend.first(stats).withProblems(List.of(ActorProblem.GROWING), 0));
  }

  @Test
  void actorHasPointForTenSecondsOfLastTenMinutes() {
    for (int second = 0; second < 900; second++) histories.add(second * SECOND, List.of(row("till", second)));

    var maps = histories.maps("app", "till", 899 * SECOND);

    assertEquals(ActorHistories.MAX_POINTS, maps.size());
    assertEquals("{secondsAgo=8.0, failed=2, lost=3, waiting=891}", maps.getLast().toString());
    assertEquals(List.of(), histories.maps("other", "till", 899 * SECOND));
  }

  @Test
  void actorWithoutProblemIsForgottenAfterTenMinutes() {
    histories.add(0, List.of(row("till", 7)));
    histories.add(600 * SECOND, List.of());
    assertEquals(1, histories.maps("app", "till", 600 * SECOND).size());

    histories.add(601 * SECOND, List.of());

    assertEquals(List.of(), histories.maps("app", "till", 601 * SECOND));
  }

  private void add(int second, int first, int last) {
    histories.add(second * SECOND, IntStream.rangeClosed(first, last).mapToObj(i -> row("actor-" + i, i)).toList());
  }

  private int points(int number) {
    return histories.maps("app", "actor-" + number, 90 * SECOND).size();
  }

  @Test
  void furtherActorReplacesActorWhoseLastProblemIsOldest() {
    add(0, 1, ActorHistories.MAX_ACTORS);
    add(10, 1, 1);

    add(20, 1_000, 1_000);

    assertEquals(List.of(2, 0, 1, 1), List.of(points(1), points(2), points(3), points(1_000)));
  }

  @Test
  void actorsWithPresentProblemsStayWhenOthersChange() {
    for (int second = 0; second < 90; second++) { // each second, another actor has a problem
      int other = 1_000 + second;
      var rows = IntStream.range(0, ActorHistories.MAX_ACTORS)
          .mapToObj(i -> row("actor-" + (i == 0 ? other : i), i)).toList();
      histories.add(second * SECOND, rows);
    }

    assertEquals(List.of(10, 10), List.of(points(1), points(ActorHistories.MAX_ACTORS - 1)));
    assertEquals(List.of(0, 1), List.of(points(1_088), points(1_089)));
  }
}
