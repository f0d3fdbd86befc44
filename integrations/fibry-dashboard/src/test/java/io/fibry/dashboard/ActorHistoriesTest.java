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

  @Test
  void numberOfActorsIsBounded() {
    histories.add(0, IntStream.rangeClosed(0, ActorHistories.MAX_ACTORS).mapToObj(i -> row("actor-" + i, i)).toList());

    assertEquals(1, histories.maps("app", "actor-0", 0).size());
    assertEquals(List.of(), histories.maps("app", "actor-" + ActorHistories.MAX_ACTORS, 0));
  }
}
