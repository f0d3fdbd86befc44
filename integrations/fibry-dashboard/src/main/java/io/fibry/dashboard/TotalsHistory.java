package io.fibry.dashboard;

import io.fibry.ActorScope.Report;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/**
 * The totals of a scope and its process in the last ten minutes, so that a page has curves when it
 * opens. Has at most one point for ten seconds. Used by one thread at a time.
 */
final class TotalsHistory {
  static final int MAX_POINTS = 60;
  private static final long MIN_DISTANCE_NANOS = Duration.ofSeconds(10).toNanos() * 9 / 10; // timers may be late
  private static final long MAX_AGE_NANOS = Duration.ofMinutes(10).toNanos();

  /** A point; {@code map} has the names of a snapshot, so that the page reads both alike. */
  private record Point(long nanos, Report report, Map<String, Object> map) {}

  private final Deque<Point> points = new ArrayDeque<>(); // oldest first

  /** Adds a point, unless the last point is too new. */
  void add(long nanos, Report report) {
    var last = points.peekLast();
    if (last != null && nanos - last.nanos < MIN_DISTANCE_NANOS) return;
    var rates = last == null ? rates(report, report, 0) : rates(last.report, report, nanos - last.nanos);
    points.add(new Point(nanos, report, JsonText.object("handling", report.handling(), "waiting", report.queued(),
        "perSecond", rates, "process", ProcessStats.asMap())));
    while (points.size() > MAX_POINTS || nanos - points.getFirst().nanos > MAX_AGE_NANOS) points.removeFirst();
  }

  /** Returns the rates between two reports as a JSON object. */
  static Map<String, Object> rates(Report before, Report now, long elapsedNanos) {
    return JsonText.object("sent", rate(now.sent() - before.sent(), elapsedNanos), "handled",
        rate(now.handled() - before.handled(), elapsedNanos), "unhandled",
        rate(unhandled(now) - unhandled(before), elapsedNanos));
  }

  private static double rate(long count, long nanos) {
    return ActorRow.rounded(ActorTrend.perSecond(count, nanos));
  }

  private static long unhandled(Report report) {
    return report.unhandled().values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns a JSON object for each point, oldest first. */
  List<Map<String, Object>> maps(long nowNanos) {
    var maps = new ArrayList<Map<String, Object>>(points.size());
    for (var point : points) {
      var map = JsonText.object("secondsAgo", ActorRow.rounded((nowNanos - point.nanos) / 1e9));
      map.putAll(point.map);
      maps.add(map);
    }
    return maps;
  }
}
