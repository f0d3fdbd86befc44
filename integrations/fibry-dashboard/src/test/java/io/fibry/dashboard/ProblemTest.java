package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import io.fibry.dashboard.ProcessPauses.PauseHistory;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which problems of an actor the dashboard finds, by its counts in successive snapshots. */
class ProblemTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Duration WAITING_LIMIT = Duration.ofSeconds(30);
  private static final long SECOND = 1_000_000_000;

  private static Stats actor() {
    return Stats.of("till");
  }

  private static List<ActorProblem> problems(ActorStats stats, ActorTrend trend) {
    return trend.presentProblems(stats, LIMIT, WAITING_LIMIT, PauseHistory.NONE, false);
  }

  private static List<ActorProblem> problemsAtFirst(Stats stats) {
    return problems(stats.get(), ActorTrend.first(stats.get()));
  }

  @Test
  void firstSnapshotFindsProblemsThatNeedNoHistory() {
    assertEquals(List.of(), problemsAtFirst(actor().withFailed(7).withRefused(7).withQueued(50)));
    assertEquals(List.of(), problemsAtFirst(actor().withBusyFor(LIMIT.minusNanos(1))));
    assertEquals(List.of(ActorProblem.STUCK), problemsAtFirst(actor().withBusyFor(LIMIT)));
    assertEquals(List.of(ActorProblem.RESTARTING),
        problemsAtFirst(actor().withState(ActorState.SUSPENDED)));
    assertEquals(List.of(ActorProblem.CUT_OFF, ActorProblem.STUCK), problemsAtFirst(
        actor().withState(ActorState.CUT_OFF).withBusyFor(Duration.ofMinutes(1))));
    assertEquals(List.of(ActorProblem.FULL), problemsAtFirst(actor().withCapacity(2).withQueued(2)));
    assertEquals(List.of(), problemsAtFirst(actor().withCapacity(2).withQueued(1)));
    assertEquals(List.of(ActorProblem.GROWING), problemsAtFirst(actor().withQueued(100_000)));
    assertEquals(List.of(), problemsAtFirst(actor().withQueued(1).withOldestWaiting(WAITING_LIMIT.minusNanos(1))));
    assertEquals(List.of(ActorProblem.BACKLOGGED),
        problemsAtFirst(actor().withQueued(1).withOldestWaiting(WAITING_LIMIT)));
  }

  @Test
  void failuresAndRefusalsAreProblemsForOneMinute() {
    assertFailedAndFullForOneMinute(actor().withFailed(3).withRefused(5), actor().withFailed(4).withRefused(6));
    assertFailedAndFullForOneMinute(actor().withFailed(3).withDropped(5), actor().withFailed(4).withDropped(6));
  }

  private static void assertFailedAndFullForOneMinute(Stats before, Stats after) {
    var stats = after.get();
    var trend = ActorTrend.first(before.get()).next(stats, SECOND);
    assertEquals(List.of(ActorProblem.FULL, ActorProblem.FAILED), problems(stats, trend));
    for (int second = 1; second < 60; second++) trend = trend.next(stats, SECOND);
    assertEquals(List.of(ActorProblem.FULL, ActorProblem.FAILED), problems(stats, trend));
    trend = trend.next(stats, SECOND);
    assertEquals(List.of(), problems(stats, trend));
  }

  @Test
  void failuresInPauseOfMinutesAreOfThePast() {
    var after = actor().withFailed(4).withRefused(6);

    var trend = ActorTrend.first(actor().get()).next(after.get(), 180 * SECOND);

    assertEquals(List.of(), problems(after.get(), trend));
    assertEquals(0, trend.recentFailures());
    var later = after.withFailed(6).get();
    assertEquals(List.of(ActorProblem.FAILING), problems(later, trend.next(later, SECOND)));
  }

  @Test
  void mailboxThatIsFullForOneSnapshotIsNoProblem() {
    var full = actor().withCapacity(1).withQueued(1).get();
    var empty = actor().withCapacity(1).get();

    var trend = ActorTrend.first(empty).next(full, SECOND);
    assertEquals(List.of(), problems(full, trend));
    assertEquals(List.of(ActorProblem.FULL), problems(full, trend.next(full, SECOND)));
    assertEquals(List.of(), problems(empty, trend.next(empty, SECOND)));
  }

  @Test
  void actorWithoutThreadIsProblemAfterHandlingLimit() {
    var stats = actor().withQueued(1).withState(ActorState.READY).get();
    var trend = ActorTrend.first(stats);
    for (int second = 1; second < 10; second++) trend = trend.next(stats, SECOND);
    assertEquals(List.of(), problems(stats, trend));

    trend = trend.next(stats, SECOND);

    assertEquals(List.of(ActorProblem.WITHOUT_THREAD), problems(stats, trend));
    var handledStats = actor().withQueued(1).withHandled(1).withState(ActorState.READY).get();
    assertEquals(List.of(), problems(handledStats, trend.next(handledStats, SECOND)));
  }

  private static boolean isGrowing(ActorTrend trend) {
    return problems(actor().get(), trend).contains(ActorProblem.GROWING);
  }

  private static ActorTrend next(ActorTrend trend, int queued, int seconds) {
    var next = trend;
    for (int second = 0; second < seconds; second++) next = next.next(actor().withQueued(queued).get(), SECOND);
    return next;
  }

  @Test
  void growthWithPausesIsOneProblem() {
    var trend = ActorTrend.first(actor().withQueued(10).get());
    for (int second = 0; !isGrowing(trend); second++)
      trend = trend.next(actor().withQueued(10 + second).get(), SECOND);

    int queued = 50;
    for (int round = 0; round < 50; round++) {
      trend = next(trend, queued += 1, 20); // grows by one message in 20 seconds
      assertTrue(isGrowing(trend), "round " + round);
    }
  }

  @Test
  void growingQueueHasItsGrowthOfLastSixtyToSeventySeconds() {
    var trend = ActorTrend.first(actor().withQueued(10).get());
    for (int second = 1; second <= 300; second++) {
      trend = trend.next(actor().withQueued(10 + second).get(), SECOND);
      if (isGrowing(trend)) assertEquals(1_000 * trend.grewRecently(), trend.growth().periodMillis());
      else assertEquals(RecentCounts.NONE, trend.growth());
    }
    assertTrue(trend.grewRecently() >= 60 && trend.grewRecently() <= 70, "" + trend.grewRecently());

    trend = next(trend, 310, 29).withProblems(List.of(ActorProblem.GROWING), 0);
    assertEquals(31, trend.grewRecently(), 10);
    var map = new ActorRow(actor().withQueued(310).get(), 0, trend).asMap(false, -1);
    assertEquals(List.of(trend.grewRecently(), trend.growth().periodMillis()),
        List.of(map.get("grewRecently"), map.get("grewInMillis")));
  }

  @Test
  void queueThatGrowsForHalfMinuteIsProblem() {
    var trend = ActorTrend.first(actor().withQueued(10).get());
    int seconds = 0;
    for (; !isGrowing(trend) && seconds < 60; seconds++)
      trend = trend.next(actor().withQueued(12 + seconds).get(), SECOND);
    assertEquals(30, seconds);

    trend = next(trend, 40, 30);
    assertTrue(isGrowing(trend), "a queue that has paused for less than half a minute");
    assertFalse(isGrowing(next(trend, 40, 20)), "a queue that grows no longer");
    assertFalse(isGrowing(next(trend, 19, 21)), "a queue that has fallen to half of its length");
    assertFalse(isGrowing(next(trend, 0, 1)), "an empty queue");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10})
  void longQueueThatGrowsSlowlyIsProblemAfterMoreThanMinute(int secondsPerSample) {
    var trend = ActorTrend.first(actor().withQueued(829).get());
    int seconds = 0;
    while (!isGrowing(trend) && seconds < 200) {
      seconds += secondsPerSample;
      trend = trend.next(actor().withQueued(829 + seconds).get(), secondsPerSample * SECOND);
    }
    assertEquals(70, seconds);

    assertFalse(isGrowing(next(trend, 899, 50)), "a queue that grows no longer");
  }

  @Test
  void longQueueThatOnlyVariesIsNotGrowing() {
    var random = new Random(1);
    var trend = ActorTrend.first(actor().withQueued(10_000).get());

    for (int second = 0; second < 3_600; second++) {
      trend = trend.next(actor().withQueued(10_000 + random.nextInt(400)).get(), SECOND);
      assertFalse(isGrowing(trend));
    }
  }

  @Test
  void queueThatGrowsByFewMessagesIsNotGrowing() {
    var trend = ActorTrend.first(actor().withQueued(100).get());

    for (int second = 0; second < 100; second++) {
      trend = trend.next(actor().withQueued(100 + second / 10).get(), SECOND);
      assertFalse(isGrowing(trend));
    }
  }

  @Test
  void queueThatShrinksEveryTenSecondsIsNotGrowing() {
    var trend = ActorTrend.first(actor().get());

    for (int second = 0; second < 120; second++) {
      trend = trend.next(actor().withQueued(second % 10 == 0 ? 3 : 100 + second).get(), SECOND);
      assertFalse(isGrowing(trend));
    }
  }

  @Test
  void trendRestartsWhenLowerCountsShowNewActorOfSameName() {
    var trend = ActorTrend.first(actor().withHandled(100).withFailed(9).get());

    var next = trend.next(actor().withHandled(30).get(), SECOND);

    assertEquals(30.0, next.perSecond());
    assertEquals(List.of(), problems(actor().get(), next));
  }

  @Test
  void trendOfIdleActorIsSameObjectInNextSnapshot() {
    var stats = actor().withHandled(100).get();
    var trend = ActorTrend.first(stats);
    for (int second = 0; second < 5; second++) trend = trend.next(stats, SECOND);

    assertSame(trend, trend.next(stats, SECOND));
    assertTrue(trend.isWorthKeeping());
    assertFalse(ActorTrend.ofNew(actor().get(), SECOND).isWorthKeeping());
  }

  @Test
  void rateIsMeanOfFiveToTenSeconds() {
    var trend = ActorTrend.first(actor().get());
    assertEquals(Double.NaN, trend.perSecond());
    long handled = 0;
    for (int second = 1; second < 60; second++) {
      if (second % 2 == 0) handled += 20; // no message in each other second
      trend = trend.next(actor().withHandled(handled).get(), SECOND);
      double perSecond = trend.perSecond();
      if (second >= 5) assertTrue(perSecond >= 8 && perSecond <= 12, "after " + second + " s: " + perSecond);
    }

    for (int second = 0; second < 10; second++) trend = trend.next(actor().withHandled(handled).get(), SECOND);
    assertEquals(0.0, trend.perSecond());
    trend = trend.next(actor().withHandled(handled + 60).get(), SECOND);
    assertTrue(trend.perSecond() >= 6 && trend.perSecond() <= 12, trend::toString);
  }

  /** Returns the trend, with the problems that the page shows, after some snapshots. */
  private static ActorTrend shown(ActorTrend trend, Stats stats, int seconds) {
    var next = trend;
    for (int second = 0; second < seconds; second++) {
      next = next.next(stats.get(), SECOND);
      next = next.withProblems(problems(stats.get(), next), SECOND);
    }
    return next;
  }

  @Test
  void valueThatVariesAroundLimitIsOneProblem() {
    var trend = ActorTrend.first(actor().get());
    for (int second = 0; second < 60; second++) {
      var wait = second % 3 == 0 ? WAITING_LIMIT : WAITING_LIMIT.minusSeconds(1);
      trend = shown(trend, actor().withQueued(1).withOldestWaiting(wait), 1);
      assertEquals(List.of(ActorProblem.BACKLOGGED), trend.problems().list());
    }

    trend = shown(trend, actor(), 7);
    assertEquals(List.of(ActorProblem.BACKLOGGED), trend.problems().list());
    assertEquals(List.of(), shown(trend, actor(), 1).problems().list());
  }

  @Test
  void endedProblemIsShownWithTimeSinceItsEnd() {
    var trend = shown(ActorTrend.first(actor().get()), actor().withBusyFor(LIMIT), 1);
    assertEquals("[stuck]", shownText(trend));

    trend = shown(trend, actor(), 1);

    assertEquals("[stuck]{stuck=1000}", shownText(trend));
    assertTrue(trend.isWorthKeeping());
  }

  private static String shownText(ActorTrend trend) {
    var map = new ActorRow(actor().get(), 0, trend).asMap(false, -1);
    return map.get("problems") + (map.containsKey("endedMillisAgo") ? map.get("endedMillisAgo").toString() : "");
  }

  @Test
  void countsAreMarkedForOneMinute() {
    var before = ActorTrend.first(actor().withFailed(3).withRefused(5).get());
    var stats = actor().withFailed(4).withRefused(5);
    assertFalse(new ActorRow(stats.get(), 0, before).asMap(false, -1).containsKey("recentFailures"));

    var row = new ActorRow(stats.get(), 0, shown(before, stats, 60)).asMap(false, -1);
    assertEquals(List.of(1L, 59_000L, 60_000L),
        List.of(row.get("recentFailures"), row.get("failedMillisAgo"), row.get("failedInMillis")));
    assertFalse(row.containsKey("refusedRecently"));
    row = new ActorRow(stats.get(), 0, shown(before, stats, 61)).asMap(false, -1);
    assertFalse(row.containsKey("recentFailures"));
  }

  private static List<Object> losses(Stats before, Stats after) {
    var trend = shown(ActorTrend.first(before.get()), after, 30);
    var row = new ActorRow(after.get(), 0, trend).asMap(false, -1);
    return List.of(row.get("refusedRecently"), row.get("droppedRecently"), row.get("lostInMillis"));
  }

  @Test
  void refusedAndDroppedMessagesAreCountedWithTheirTime() {
    assertEquals(List.of(1L, 0L, 30_000L), losses(actor().withDropped(5), actor().withDropped(5).withRefused(1)));
    assertEquals(List.of(7L, 2L, 30_000L),
        losses(actor().withDropped(5).withRefused(3), actor().withDropped(7).withRefused(10)));
  }

  @Test
  void failuresAreOfTheirTime() {
    var trend = ActorTrend.first(actor().get());
    for (int second = 1; second <= 600; second++) { // one failure each second
      trend = trend.next(actor().withFailed(second).get(), SECOND);
      assertEquals(1_000 * trend.recentFailures(), trend.failures().periodMillis());
      assertTrue(trend.failures().periodMillis() < 70_000, "after " + second + " s");
    }
  }

  @Test
  void countOfRareSamplesIsOfAtMostNinetySeconds() {
    var trend = ActorTrend.first(actor().get());
    for (int second = 30; second <= 600; second += 30) { // one failure each second
      trend = trend.next(actor().withFailed(second).get(), 30 * SECOND);
      assertEquals(Math.min(second, 60), trend.recentFailures());
    }
  }

  @Test
  void blockedActorIsNotStuck() {
    var stats = actor().awaiting("stock").withBusyFor(LIMIT).get();
    var trend = ActorTrend.first(stats).withProblems(List.of(ActorProblem.STUCK), SECOND).next(stats, SECOND);
    var present = trend.presentProblems(stats, LIMIT, WAITING_LIMIT, PauseHistory.NONE, true);
    assertEquals(List.of(ActorProblem.BLOCKED), present);

    trend = trend.withProblems(present, SECOND);
    assertEquals(List.of(ActorProblem.BLOCKED), trend.problems().list());
    assertEquals(List.of(ActorProblem.STUCK),
        trend.withProblems(problems(stats, trend), SECOND).problems().list());
    assertEquals(List.of(ActorProblem.BLOCKED), trend.withProblems(List.of(), SECOND).problems().list());
  }

  /** Returns the problems one second after an actor has failed so often among so many successes. */
  private static List<ActorProblem> problemsAfter(int failures, int successes) {
    var before = ActorTrend.first(actor().withHandled(7_000).withFailed(50).get());
    var stats = actor().withHandled(7_000 + successes).withFailed(50 + failures).get();
    return problems(stats, before.next(stats, SECOND));
  }

  @Test
  void actorIsFailingFromTwoFailuresAndOnePercentOn() {
    assertEquals(List.of(ActorProblem.FAILED), problemsAfter(1, 0));
    assertEquals(List.of(ActorProblem.FAILING), problemsAfter(2, 0));
    assertEquals(List.of(ActorProblem.FAILING), problemsAfter(2, 198));
    assertEquals(List.of(ActorProblem.FAILED), problemsAfter(2, 199));
  }

  @Test
  void failuresAreCountedForAtLeastOneMinute() {
    var trend = ActorTrend.first(actor().get());
    for (int second = 1; second <= 600; second++) { // one failure and ten successes each ten seconds
      trend = trend.next(actor().withHandled(second).withFailed(second / 10).get(), SECOND);
      long failures = trend.recentFailures();
      if (second >= 60 && (failures < 6 || failures > 7)) assertEquals("6 to 7 failures", failures + " failures");
    }
    var stats = actor().withHandled(600).withFailed(60).get();
    for (int second = 1; second < 60; second++) {
      trend = trend.next(stats, SECOND);
      assertTrue(trend.recentFailures() > 0, "after " + second + " s");
    }
    assertEquals(0, trend.next(stats, SECOND).recentFailures());
  }

  @Test
  void actorThatFailedOnceComesAfterAllOtherProblems() {
    var failedOnce = row(actor().withQueued(90_000), ActorProblem.FAILED);
    for (var problem : ActorProblem.values()) if (problem != ActorProblem.FAILED)
      assertTrue(ActorRow.BY_URGENCY.compare(row(actor(), problem), failedOnce) < 0, problem::toString);
  }

  private static ActorRow row(Stats stats, ActorProblem problem) {
    return new ActorRow(stats.get(), 0, ActorTrend.first(stats.get()).withProblems(List.of(problem), 0));
  }

  @Test
  void suspensionIsProblemAfterThreeSecondsWithoutFailure() {
    var trend = ActorTrend.first(actor().withFailed(3).get());
    var suspended = actor().withFailed(4).withState(ActorState.SUSPENDED);

    for (int second = 0; second < 3; second++) {
      trend = trend.next(suspended.get(), SECOND);
      assertEquals(List.of(ActorProblem.FAILED), problems(suspended.get(), trend));
    }
    trend = trend.next(suspended.get(), SECOND);
    assertEquals(List.of(ActorProblem.RESTARTING, ActorProblem.FAILED), problems(suspended.get(), trend));
    var failedAgain = suspended.withFailed(5).get();
    trend = trend.next(failedAgain, SECOND);
    assertEquals(List.of(ActorProblem.FAILING), problems(failedAgain, trend));
  }
}
