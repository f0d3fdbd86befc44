package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorStats;
import io.fibry.dashboard.ProcessPauses.PauseHistory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests when expired requests are a problem of their actor. */
class ExpiringActorTest {
  private static final long SECOND = 1_000_000_000;

  private static Stats actor() {
    return Stats.of("till");
  }

  private static List<ActorProblem> problems(ActorStats stats, ActorTrend trend) {
    return trend.presentProblems(stats, Duration.ofSeconds(10), Duration.ofSeconds(30), PauseHistory.NONE, false);
  }

  @Test
  void twoExpiredRequestsAreProblemForOneMinute() {
    var first = actor().withExpired(4).get();
    var second = actor().withExpired(5).get();

    var trend = ActorTrend.first(actor().withExpired(3).get()).next(first, SECOND);
    assertEquals(List.of(), problems(first, trend));
    assertEquals(1, trend.expiredRecently());
    trend = trend.next(second, SECOND);
    assertEquals(List.of(ActorProblem.EXPIRING), problems(second, trend));
    assertEquals(2, trend.expiredRecently());
    for (int time = 1; time < 60; time++) trend = trend.next(second, SECOND);
    assertEquals(List.of(ActorProblem.EXPIRING), problems(second, trend));
    trend = trend.next(second, SECOND);
    assertEquals(List.of(), problems(second, trend));
    assertEquals(0, trend.expiredRecently());
  }

  /** A new actor has the name of an ended actor. */
  @Test
  void lowerCountOfExpiredRequestsBeginsNewTrend() {
    var stats = actor().withHandled(9).withExpired(1).get();

    var trend = ActorTrend.first(actor().withHandled(8).withExpired(7).get()).next(stats, SECOND);

    assertEquals(1, trend.expired());
    assertEquals(1, trend.expiredRecently());
  }
}
