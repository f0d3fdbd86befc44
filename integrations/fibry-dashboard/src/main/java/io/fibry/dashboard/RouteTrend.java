package io.fibry.dashboard;

import io.fibry.net.HttpServer.ResponseTimes;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.TimeBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A route of an HTTP server: its counts, and how they have changed. Rates and percentiles are of
 * the time since the older of two base lines. A base line is replaced after 30 seconds, so this
 * time is 30 to 60 seconds, or less at the beginning. Immutable.
 *
 * @param older the counts of the older base line
 * @param olderNanos the age of the older base line
 * @param newer the counts of the newer base line
 * @param newerNanos the age of the newer base line
 * @param stats the present counts
 */
record RouteTrend(RouteStats older, long olderNanos, RouteStats newer, long newerNanos, RouteStats stats) {
  private static final long PERIOD_NANOS = Duration.ofSeconds(30).toNanos();
  private static final int MIN_ERRORS_PERCENT = 1; // so that one error among many responses is no problem
  private static final double SLOW_MILLIS = 1_000;

  static RouteTrend first(RouteStats stats) {
    return new RouteTrend(stats, 0, stats, 0, stats);
  }

  RouteTrend next(RouteStats next, long elapsedNanos) {
    return newerNanos + elapsedNanos < PERIOD_NANOS
        ? new RouteTrend(older, olderNanos + elapsedNanos, newer, newerNanos + elapsedNanos, next)
        : new RouteTrend(newer, newerNanos + elapsedNanos, next, 0, next);
  }

  /** Returns how many exchanges ended since the older base line. */
  long recentlyAnswered() {
    return stats.answered() - older.answered();
  }

  /** Returns the problems of the route, the most urgent first. */
  List<String> problems() {
    var problems = new ArrayList<String>(0);
    if (isProblem(stats.responses().serverErrors() - older.responses().serverErrors())) problems.add("failing");
    if (isProblem(stats.responses().unavailable() - older.responses().unavailable())) problems.add("unavailable");
    return problems;
  }

  /** Returns whether at least 1 % of the recent successes took a second or more. */
  boolean isSlow() {
    return recentMillis(0.99) >= SLOW_MILLIS;
  }

  private boolean isProblem(long recentErrors) {
    return recentErrors > 0 && recentErrors * 100 >= recentlyAnswered() * MIN_ERRORS_PERCENT;
  }

  /** Returns the estimated time in milliseconds; NaN if no exchange succeeded recently. */
  private double recentMillis(double fraction) {
    var times = stats.successTimes();
    var olderTimes = older.successTimes();
    if (times.count() == olderTimes.count()) return Double.NaN;
    var buckets = new ArrayList<TimeBucket>();
    for (int i = 0; i < times.buckets().size(); i++) {
      var bucket = times.buckets().get(i);
      buckets.add(new TimeBucket(bucket.bound(), bucket.count() - olderTimes.buckets().get(i).count()));
    }
    var recentTimes = new ResponseTimes(buckets, times.count() - olderTimes.count(),
        times.total().minus(olderTimes.total()));
    return Math.round(recentTimes.percentile(fraction).toNanos() / 1e4) / 1e2;
  }

  /** Returns a JSON object. */
  Map<String, Object> asMap() {
    var responses = stats.responses();
    var map = JsonText.object("route", stats.route().isEmpty() ? "none" : stats.route(), "answered", stats.answered(),
        "perSecond", ActorRow.rounded(recentlyAnswered() / (olderNanos / 1e9)), "upgraded", responses.upgraded(),
        "successful", responses.successful(), "redirected", responses.redirected(), "clientErrors",
        responses.clientErrors(), "serverErrors", responses.serverErrors(), "unavailable", responses.unavailable(),
        "p50Millis", recentMillis(0.5), "p99Millis", recentMillis(0.99), "openWebSockets", stats.openWebSockets());
    var problems = problems();
    if (!problems.isEmpty()) map.put("problems", problems);
    return map;
  }
}
