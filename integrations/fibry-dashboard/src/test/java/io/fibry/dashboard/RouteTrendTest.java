package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.dashboard.ProcessPauses.PauseHistory;
import io.fibry.dashboard.RouteTrend.RouteLimits;
import io.fibry.dashboard.RoutesPanel.RoutesSample;
import io.fibry.net.HttpServer.Outcome;
import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.net.HttpServer.ResponseTimes;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.ServerLoad;
import io.fibry.net.HttpServer.TimeBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the rates, times and problems of a route, which its counts in successive samples give. */
class RouteTrendTest {
  private static final long SECOND = 1_000_000_000;
  private static final RouteLimits LIMITS = new RouteLimits(Duration.ofSeconds(10), Duration.ofSeconds(1));

  /** Returns statistics with exchanges of up to 10 ms, and exchanges of 10 to 100 ms. */
  private static RouteStats stats(String route, long fast, long slow, long serverErrors, long unavailable) {
    long successful = fast + slow - serverErrors - unavailable;
    var times = new ResponseTimes(List.of(new TimeBucket(Duration.ofMillis(10), fast),
        new TimeBucket(Duration.ofMillis(100), fast + slow)), fast + slow, Duration.ofMillis(10 * fast + 100 * slow));
    return new RouteStats(route, new ResponseCounts(0, successful, 0, 0, serverErrors, 0, unavailable), times,
        Map.of(Outcome.SUCCESS, times), 0);
  }

  private static RouteStats stats(long fast, long slow, long serverErrors, long unavailable) {
    return stats("GET /", fast, slow, serverErrors, unavailable);
  }

  private static RouteTrend first(RouteStats stats) {
    return RouteTrend.first(stats, RouteWork.NONE, LIMITS);
  }

  private static RouteTrend next(RouteTrend trend, RouteStats stats, long elapsedNanos) {
    return trend.next(stats, RouteWork.NONE, LIMITS, PauseHistory.NONE, elapsedNanos);
  }

  private static RouteWork work(Duration time) {
    return new RouteWork(1, time, time);
  }

  private static List<String> problems(RouteTrend trend) {
    return trend.problems().list().stream().map(RouteProblem::toString).toList();
  }

  private static List<Object> ratesAndTimes(RouteTrend trend) {
    var map = trend.asMap();
    return List.of(map.get("perSecond"), map.get("p50Millis"), map.get("p99Millis"));
  }

  @Test
  void percentilesAreOfRecentExchangesOnly() {
    var trend = first(stats(0, 1_000, 0, 0));
    assertEquals(List.of(Double.NaN, Double.NaN, Double.NaN), ratesAndTimes(trend));

    trend = next(trend, stats(100, 1_000, 0, 0), 10 * SECOND);

    assertEquals(List.of(10.0, 5.0, 9.9), ratesAndTimes(trend));
  }

  @Test
  void percentilesLeaveOutRefusalsAndFailures() {
    var none = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(2), 0)), 0, Duration.ZERO);
    var successes = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(2), 4)), 4, Duration.ofSeconds(4));
    var before = new RouteStats("/", new ResponseCounts(0, 0, 0, 0, 0, 0, 0), none, Map.of(Outcome.SUCCESS, none), 0);
    var onlyRefused = new RouteStats("/", new ResponseCounts(0, 0, 0, 0, 0, 0, 4), successes,
        Map.of(Outcome.SUCCESS, none, Outcome.UNAVAILABLE, successes), 0);
    var both = new RouteStats("/", new ResponseCounts(0, 4, 0, 0, 0, 0, 4), successes.plus(successes),
        Map.of(Outcome.SUCCESS, successes, Outcome.UNAVAILABLE, successes), 0);

    var trend = next(first(before), onlyRefused, SECOND);
    assertEquals(List.of(4.0, Double.NaN, Double.NaN), ratesAndTimes(trend));
    assertEquals(List.of(4.0, 1_000.0, 1_980.0), ratesAndTimes(next(trend, both, SECOND)));
  }

  @Test
  void ratesCoverThirtyToSixtySeconds() {
    var trend = first(stats(0, 0, 0, 0));
    for (int second = 1; second <= 300; second++) {
      trend = next(trend, stats(second, 0, 0, 0), SECOND);
      long seconds = trend.recentlyAnswered(); // one exchange a second
      assertEquals(1.0, trend.asMap().get("perSecond"));
      if (second >= 30 && (seconds < 30 || seconds >= 60)) assertEquals("30 to 59 seconds", seconds + " seconds");
    }
  }

  @Test
  void errorsAreProblemsFromOnePercentOn() {
    var trend = first(stats(0, 0, 0, 0));

    assertEquals(List.of(), problems(trend));
    assertEquals(List.of(), problems(next(trend, stats(1_000, 0, 9, 9), SECOND)));
    assertEquals(List.of("failing"), problems(next(trend, stats(1_000, 0, 10, 0), SECOND)));
    assertEquals(List.of("unavailable"), problems(next(trend, stats(1_000, 0, 0, 10), SECOND)));
    assertEquals(List.of("failing", "unavailable"), problems(next(trend, stats(2, 0, 1, 1), SECOND)));
  }

  @Test
  void responsesWithStatus504AreProblemOfTheirOwn() {
    var trend = next(first(timedOut(0)), timedOut(3), SECOND);

    assertEquals(List.of("timing out"), problems(trend));
    assertEquals(List.of(2L, 3L), List.of(trend.asMap().get("serverErrors"), trend.asMap().get("timedOut")));
  }

  /** Returns statistics with two responses with the status 500, and some with the status 504. */
  private static RouteStats timedOut(long timedOut) {
    var stats = stats(0, 0, 0, 0);
    var times = new ResponseTimes(stats.times().buckets(), 2 + timedOut, Duration.ZERO);
    return new RouteStats("GET /", new ResponseCounts(0, 0, 0, 0, 2 + timedOut, timedOut, 0), times,
        Map.of(Outcome.SUCCESS, stats.times()), 0);
  }

  @Test
  void problemHasItsCountOfLastSixtyToSeventySeconds() {
    var trend = first(stats(0, 0, 0, 0));
    assertEquals(null, trend.asMap().get("recent"));
    for (int second = 1; second <= 300; second++) { // two responses a second, and one of them fails
      trend = next(trend, stats(2 * second, 0, second, 0), SECOND);
      var recent = (Map<?, ?>) ((Map<?, ?>) trend.asMap().get("recent")).get(RouteProblem.FAILING);
      long count = (Long) recent.get("count");
      assertEquals(List.of(2 * count, 1_000 * count), List.of(recent.get("of"), recent.get("inMillis")));
      if (second >= 60 && (count < 60 || count > 70)) assertEquals("60 to 70", "" + count);
    }
    for (int second = 1; second < 60; second++) {
      trend = next(trend, stats(600 + second, 0, 300, 0), SECOND);
      assertEquals(second >= 30, trend.asMap().get("recent") == null, "without an error for " + second + " s");
    }
  }

  @Test
  void countOfSlowSuccessesIsOfSuccesses() {
    assertEquals("{slow={count=3, of=9, inMillis=1000}}",
        "" + next(first(times(0, 0, 0, 0)), times(6, 2, 1, 0), SECOND).asMap().get("recent"));
    assertEquals("{timing out={count=3, of=3, inMillis=1000}}",
        "" + next(first(timedOut(0)), timedOut(3), SECOND).asMap().get("recent"));
  }

  @Test
  void errorIsProblemForOneMinute() {
    for (int answered : new int[] {100, 101}) { // the share stays at its limit, or falls below it
      var trend = next(first(stats(0, 0, 0, 0)), stats(100, 0, 1, 0), SECOND);
      for (int second = 0; second < 60; second++) {
        assertEquals(List.of("failing"), problems(trend));
        assertEquals("{failing=" + 1_000 * second + "}", "" + trend.asMap().get("lastMillisAgo"));
        trend = next(trend, stats(answered, 0, 1, 0), SECOND);
      }
      assertEquals(List.of(), problems(trend));
    }
  }

  @Test
  void errorIsOverAfterHalfMinuteIfRouteHasRespondedSince() {
    var failed = next(first(stats(0, 0, 0, 0)), stats(100, 0, 1, 0), SECOND);
    for (int responses : new int[] {0, 1}) { // each second
      var trend = failed;
      for (int second = 1; second < 60; second++) {
        trend = next(trend, stats(100 + second * responses, 0, 1, 0), SECOND);
        assertEquals(List.of("failing"), problems(trend));
        assertEquals(responses == 0 || second < 30 ? "null" : "{failing=" + 1_000 * second + "}",
            "" + trend.asMap().get("endedMillisAgo"));
      }
    }
  }

  @Test
  void routeThatFailsEveryTwentySecondsFailsAllTheTime() {
    var trend = first(stats(0, 0, 0, 0));
    for (int second = 1; second < 600; second++) {
      trend = next(trend, stats(5 * second, 0, second / 20, 0), SECOND); // a share of 1 %
      if (second >= 20) assertEquals(List.of("failing"), problems(trend), "second " + second);
      assertEquals(null, trend.asMap().get("endedMillisAgo"));
    }
  }

  @Test
  void rareErrorsAfterManyErrorsAreNoProblem() {
    var trend = next(first(stats(0, 0, 0, 0)), stats(100, 0, 50, 0), SECOND);
    for (int second = 1; second < 180; second++)
      trend = next(trend, stats(100 + 1_000 * second, 0, 50 + second / 20, 0), SECOND);

    assertEquals(List.of(), problems(trend));
  }

  @Test
  void errorsInPauseOfMinutesAreOfThePast() {
    var trend = next(first(stats(0, 0, 0, 0)), timedOut(5), 180 * SECOND);

    assertEquals(List.of(), problems(trend));
    trend = next(trend, timedOut(6), SECOND);
    assertEquals(List.of("timing out"), problems(trend));
    assertEquals("{timing out=0}", "" + trend.asMap().get("lastMillisAgo"));
  }

  @Test
  void errorsBeforeFirstSampleAreNoProblem() {
    var trend = first(stats(10, 0, 10, 0));

    for (int second = 0; second < 90; second++) {
      trend = next(trend, stats(10, 0, 10, 0), SECOND);
      assertEquals(List.of(), problems(trend));
    }
  }

  @Test
  void oldErrorsAreNoProblem() {
    var trend = next(first(stats(0, 0, 0, 0)), stats(1, 0, 1, 0), SECOND);
    assertEquals(List.of("failing"), problems(trend));

    for (int second = 0; second < 130; second++) trend = next(trend, stats(1, 0, 1, 0), SECOND);

    assertEquals(List.of(), problems(trend));
  }

  /** Returns statistics with numbers of exchanges of up to 1 s, 2.5 s, 10 s, and longer. */
  private static RouteStats times(long fast, long slow, long slower, long slowest) {
    long count = fast + slow + slower + slowest;
    var times = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(1), fast),
        new TimeBucket(Duration.ofMillis(2_500), fast + slow),
        new TimeBucket(Duration.ofSeconds(10), fast + slow + slower)), count, Duration.ofSeconds(count));
    return new RouteStats("GET /", new ResponseCounts(0, count, 0, 0, 0, 0, 0), times, Map.of(Outcome.SUCCESS, times),
        0);
  }

  @Test
  void routeIsSlowIfOnePercentAndTwoExchangesExceedLimit() {
    var trend = first(times(0, 0, 0, 0));

    assertEquals(List.of(), problems(next(trend, times(0, 1, 0, 0), SECOND)));
    assertEquals(List.of("slow"), problems(next(trend, times(0, 2, 0, 0), SECOND)));
    assertEquals(List.of(), problems(next(trend, times(199, 1, 0, 0), SECOND)));
    assertEquals(List.of("slow"), problems(next(trend, times(198, 1, 1, 0), SECOND)));
    assertEquals(List.of(), problems(next(trend, times(8, 0, 0, 2), SECOND)), "event streams");
    var limits = new RouteLimits(Duration.ofSeconds(10), Duration.ofMillis(1_001)); // rounded up to 2.5 s
    assertEquals(List.of(), problems(trend.next(times(0, 2, 0, 0), RouteWork.NONE, limits, PauseHistory.NONE, SECOND)));
    limits = new RouteLimits(Duration.ofSeconds(10), Duration.ofHours(1));
    assertEquals(List.of(), problems(trend.next(times(0, 0, 9, 0), RouteWork.NONE, limits, PauseHistory.NONE, SECOND)));
  }

  @Test
  void routeWithLongExchangeIsStuckAndThenSlow() {
    var long10 = work(LIMITS.handling());
    var stats = times(0, 0, 0, 0);
    assertEquals(List.of("stuck"), problems(RouteTrend.first(stats, long10, LIMITS)));
    assertEquals(List.of(), problems(
        RouteTrend.first(stats, work(LIMITS.handling().minusNanos(1)), LIMITS)));

    var trend = first(stats).next(stats, long10, LIMITS, PauseHistory.NONE, SECOND);
    assertEquals(List.of("stuck"), problems(trend));
    for (int second = 1; second < 60; second++) {
      trend = next(trend, stats, SECOND);
      assertEquals(second < 10 ? List.of("stuck", "slow") : List.of("slow"), problems(trend));
    }
    assertEquals(List.of(), problems(next(trend, stats, SECOND)));
  }

  @Test
  void exchangesDelayedByPauseOfProcessAreNotSlow() {
    var clock = new StoppableClock();
    var pauses = new ProcessPauses(clock);
    var trend = next(first(times(0, 0, 0, 0)), times(100, 0, 0, 0), SECOND);
    clock.stop(Duration.ofSeconds(9));
    trend = trend.next(times(100, 0, 5, 0), work(Duration.ofSeconds(9)), LIMITS, pauses.observe(), 9 * SECOND);
    assertEquals(List.of(), problems(trend), "ended before the first sample");
    clock.stop(Duration.ofSeconds(1)); // too short for a pause
    trend = trend.next(times(100, 0, 9, 0), RouteWork.NONE, LIMITS, pauses.observe(), SECOND);
    assertEquals(List.of(), problems(trend), "ended within a second");
    clock.stop(Duration.ofSeconds(1));
    assertEquals(List.of(), problems(trend.next(times(110, 0, 9, 0), RouteWork.NONE, LIMITS, pauses.observe(),
        SECOND)));
    trend = trend.next(times(100, 2, 9, 0), RouteWork.NONE, LIMITS, pauses.observe(), SECOND);
    assertEquals(List.of("slow"), problems(trend), "slow after the pause");
    for (int second = 1; second < 60; second++) {
      trend = next(trend, times(100, 2, 9, 0), SECOND);
      assertEquals(List.of("slow"), problems(trend));
    }
    assertEquals(List.of(), problems(next(trend, times(100, 2, 9, 0), SECOND)));
  }

  @Test
  void pauseOfProcessIsNoTimeWithoutError() {
    var clock = new StoppableClock();
    var pauses = new ProcessPauses(clock);
    var trend = next(first(stats(0, 0, 0, 0)), stats(100, 0, 1, 0), SECOND);
    clock.stop(Duration.ofSeconds(20)); // the first of them until the next beat
    trend = trend.next(stats(101, 0, 1, 0), RouteWork.NONE, LIMITS, pauses.observe(), 20 * SECOND);
    for (int second = 1; second < 40; second++) {
      assertEquals(second < 30 ? "null" : "{failing=" + 1_000 * second + "}", "" + trend.asMap().get("endedMillisAgo"));
      assertEquals("{failing=" + 1_000 * (second + 19) + "}", "" + trend.asMap().get("lastMillisAgo"));
      trend = next(trend, stats(101 + second, 0, 1, 0), SECOND);
    }
  }

  @Test
  void failuresAfterPauseOfProcessAreProblem() {
    var clock = new StoppableClock();
    var pauses = new ProcessPauses(clock);
    clock.stop(Duration.ofSeconds(35));
    assertEquals(List.of("timing out"), problems(first(timedOut(0)).next(timedOut(3), RouteWork.NONE, LIMITS,
        pauses.observe(), 35 * SECOND)));
  }

  @Test
  void timesAreShownByTheirBuckets() {
    var map = next(first(times(0, 0, 0, 0)), times(60, 40, 0, 0), SECOND).asMap();
    assertEquals(List.of(List.of(0.0, 1_000.0), List.of(1_000.0, 2_500.0), List.of(1_000.0, 2_500.0)),
        List.of(map.get("p50Range"), map.get("p99Range"), map.get("maxRange")));

    var longest = next(first(times(0, 0, 0, 0)), times(199, 0, 0, 1), SECOND).asMap();
    assertEquals("[[0.0,1000.0],[10000.0,null]]",
        JsonText.of(List.of(longest.get("p99Range"), longest.get("maxRange"))));
    assertEquals("[null,null]", JsonText.of(first(times(1, 0, 0, 0)).asMap().get("maxRange")));
  }

  @Test
  void workOfRouteIsThatOfItsServerOnly() {
    var rows = new ArrayList<ActorRow>();
    for (var name : List.of("web/1", "web/2", "other/1", "web/3")) {
      var stats = Stats.of(name).withMessageType("GET /").withBusyFor(Duration.ofSeconds(rows.size())).get();
      rows.add(new ActorRow(stats, 0, ActorTrend.first(stats)));
    }

    assertEquals(Map.of("GET /", new RouteWork(2, Duration.ofSeconds(3), Duration.ofSeconds(3))),
        RouteWork.of("web", rows, PauseHistory.NONE));
  }

  @Test
  void failingAndBusiestRoutesAreShownInTheirOrder() {
    var before = new ArrayList<RouteStats>();
    var after = new ArrayList<RouteStats>();
    for (int i = 0; i < 150; i++) {
      before.add(stats("/" + i, 0, 0, 0, 0));
      after.add(stats("/" + i, i == 7 ? 1 : i, 0, i == 7 ? 1 : 0, 0));
    }

    var rows = routes(before, after);

    assertEquals(RoutesSample.MAX_ROWS, rows.size());
    assertEquals("/7 /51 /149", rows.getFirst() + " " + rows.get(1) + " " + rows.getLast());
  }

  @Test
  void routesWithProblemsComeBeforeSlowRoutes() {
    var before = List.of(stats("/a", 0, 0, 0, 0), stats("/slow", 0, 0, 0, 0), stats("/failing", 0, 0, 0, 0));
    var times = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(1), 0),
        new TimeBucket(Duration.ofSeconds(3), 5)), 5, Duration.ofSeconds(10));
    var slow =
        new RouteStats("/slow", new ResponseCounts(0, 5, 0, 0, 0, 0, 0), times, Map.of(Outcome.SUCCESS, times), 0);

    var routes = routes(before, List.of(stats("/a", 9, 9, 0, 0), slow, stats("/failing", 5, 0, 5, 0)));

    assertEquals(List.of("/failing", "/slow", "/a"), routes);
  }

  /** Returns the routes in the order in which the page shows them. */
  private static List<Object> routes(List<RouteStats> before, List<RouteStats> after) {
    var load = new ServerLoad(0, 0, 1, 0, 0);
    var rows =
        (List<?>) RoutesSample.first("api", load, before, Map.of(), LIMITS)
            .next(load, after, Map.of(), LIMITS, PauseHistory.NONE, SECOND)
            .asMap().get("routes");
    return rows.stream().<Object>map(row -> ((Map<?, ?>) row).get("route")).toList();
  }
}
