package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

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

  /** Returns statistics with exchanges of up to 10 ms, and exchanges of 10 to 100 ms. */
  private static RouteStats stats(String route, long fast, long slow, long serverErrors, long unavailable) {
    long successful = fast + slow - serverErrors - unavailable;
    var times = new ResponseTimes(List.of(new TimeBucket(Duration.ofMillis(10), fast),
        new TimeBucket(Duration.ofMillis(100), fast + slow)), fast + slow, Duration.ofMillis(10 * fast + 100 * slow));
    return new RouteStats(route, new ResponseCounts(0, successful, 0, 0, serverErrors, unavailable), times,
        Map.of(Outcome.SUCCESS, times), 0);
  }

  private static RouteStats stats(long fast, long slow, long serverErrors, long unavailable) {
    return stats("GET /", fast, slow, serverErrors, unavailable);
  }

  private static List<Object> ratesAndTimes(RouteTrend trend) {
    var map = trend.asMap();
    return List.of(map.get("perSecond"), map.get("p50Millis"), map.get("p99Millis"));
  }

  @Test
  void percentilesAreOfRecentExchangesOnly() {
    var trend = RouteTrend.first(stats(0, 1_000, 0, 0));
    assertEquals(List.of(Double.NaN, Double.NaN, Double.NaN), ratesAndTimes(trend));

    trend = trend.next(stats(100, 1_000, 0, 0), 10 * SECOND);

    assertEquals(List.of(10.0, 5.0, 9.9), ratesAndTimes(trend));
  }

  @Test
  void percentilesLeaveOutRefusalsAndFailures() {
    var none = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(2), 0)), 0, Duration.ZERO);
    var successes = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(2), 4)), 4, Duration.ofSeconds(4));
    var before = new RouteStats("/", new ResponseCounts(0, 0, 0, 0, 0, 0), none, Map.of(Outcome.SUCCESS, none), 0);
    var onlyRefused = new RouteStats("/", new ResponseCounts(0, 0, 0, 0, 0, 4), successes,
        Map.of(Outcome.SUCCESS, none, Outcome.UNAVAILABLE, successes), 0);
    var both = new RouteStats("/", new ResponseCounts(0, 4, 0, 0, 0, 4), successes.plus(successes),
        Map.of(Outcome.SUCCESS, successes, Outcome.UNAVAILABLE, successes), 0);

    var trend = RouteTrend.first(before).next(onlyRefused, SECOND);
    assertEquals(List.of(4.0, Double.NaN, Double.NaN), ratesAndTimes(trend));
    assertEquals(List.of(4.0, 1_000.0, 1_980.0), ratesAndTimes(trend.next(both, SECOND)));
  }

  @Test
  void ratesCoverThirtyToSixtySeconds() {
    var trend = RouteTrend.first(stats(0, 0, 0, 0));
    for (int second = 1; second <= 300; second++) {
      trend = trend.next(stats(second, 0, 0, 0), SECOND);
      long seconds = trend.recentlyAnswered(); // one exchange a second
      assertEquals(1.0, trend.asMap().get("perSecond"));
      if (second >= 30 && (seconds < 30 || seconds >= 60)) assertEquals("30 to 59 seconds", seconds + " seconds");
    }
  }

  @Test
  void errorsAreProblemsFromOnePercentOn() {
    var trend = RouteTrend.first(stats(0, 0, 0, 0));

    assertEquals(List.of(), trend.problems());
    assertEquals(List.of(), trend.next(stats(1_000, 0, 9, 9), SECOND).problems());
    assertEquals(List.of("failing"), trend.next(stats(1_000, 0, 10, 0), SECOND).problems());
    assertEquals(List.of("unavailable"), trend.next(stats(1_000, 0, 0, 10), SECOND).problems());
    assertEquals(List.of("failing", "unavailable"), trend.next(stats(2, 0, 1, 1), SECOND).problems());
  }

  @Test
  void errorsBeforeFirstSampleAreNoProblem() {
    var trend = RouteTrend.first(stats(10, 0, 10, 0));

    for (int second = 0; second < 90; second++) {
      trend = trend.next(stats(10, 0, 10, 0), SECOND);
      assertEquals(List.of(), trend.problems());
    }
  }

  @Test
  void oldErrorsAreNoProblem() {
    var trend = RouteTrend.first(stats(0, 0, 0, 0)).next(stats(1, 0, 1, 0), SECOND);
    assertEquals(List.of("failing"), trend.problems());

    for (int second = 0; second < 60; second++) trend = trend.next(stats(1, 0, 1, 0), SECOND);

    assertEquals(List.of(), trend.problems());
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
    var slow = new RouteStats("/slow", new ResponseCounts(0, 5, 0, 0, 0, 0), times, Map.of(Outcome.SUCCESS, times), 0);

    var routes = routes(before, List.of(stats("/a", 9, 9, 0, 0), slow, stats("/failing", 5, 0, 5, 0)));

    assertEquals(List.of("/failing", "/slow", "/a"), routes);
  }

  /** Returns the routes in the order in which the page shows them. */
  private static List<Object> routes(List<RouteStats> before, List<RouteStats> after) {
    var load = new ServerLoad(0, 0, 1, 0, 0);
    var rows = (List<?>) RoutesSample.first("api", load, before).next(load, after, SECOND).asMap().get("routes");
    return rows.stream().<Object>map(row -> ((Map<?, ?>) row).get("route")).toList();
  }
}
