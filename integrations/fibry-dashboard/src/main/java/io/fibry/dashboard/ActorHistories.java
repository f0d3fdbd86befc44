package io.fibry.dashboard;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The counts of actors while they had problems in the last ten minutes, so that the charts of such
 * an actor begin before the page was opened. Has at most one point of an actor for ten seconds, and
 * at most 250 actors: less than a megabyte. A further actor replaces the actor whose last problem
 * is the oldest. Used by one thread at a time.
 */
final class ActorHistories {
  static final int MAX_POINTS = 60;
  static final int MAX_ACTORS = ActorRow.MAX_PROBLEM_ROWS;
  private static final long MIN_DISTANCE_NANOS = Duration.ofSeconds(10).toNanos() * 9 / 10; // timers may be late
  private static final long MAX_AGE_NANOS = Duration.ofMinutes(10).toNanos();

  private record ActorPoint(long nanos, long failed, long lost, long waiting) {}

  // by scopes and name, first the actor whose last problem is the oldest; the points oldest first
  private final Map<String, Deque<ActorPoint>> points = new LinkedHashMap<>();

  /**
   * Adds a point for each actor with a problem, and forgets old points.
   *
   * @param problemRows at most {@link #MAX_ACTORS} actors
   */
  void add(long nanos, List<ActorRow> problemRows) {
    points.values().removeIf(actorPoints -> nanos - actorPoints.getLast().nanos > MAX_AGE_NANOS);
    for (var row : problemRows) { // first, so that new actors replace no actor of these
      var actorPoints = points.remove(key(row));
      if (actorPoints != null) points.put(key(row), actorPoints);
    }
    for (var row : problemRows) {
      var stats = row.stats();
      var actorPoints = points.computeIfAbsent(key(row), any -> new ArrayDeque<>());
      if (points.size() > MAX_ACTORS) points.remove(points.keySet().iterator().next());
      if (!actorPoints.isEmpty() && nanos - actorPoints.getLast().nanos < MIN_DISTANCE_NANOS) continue;
      actorPoints.add(new ActorPoint(nanos, stats.failed(), stats.refused() + stats.dropped(), stats.queued()));
      while (actorPoints.size() > MAX_POINTS || nanos - actorPoints.getFirst().nanos > MAX_AGE_NANOS)
        actorPoints.removeFirst();
    }
  }

  private static String key(ActorRow row) {
    return key(String.join(" / ", row.stats().scopes()), row.stats().name());
  }

  private static String key(String scopeNames, String name) {
    return scopeNames + "\n" + name;
  }

  /** Returns a JSON object for each point of an actor, oldest first. */
  List<Map<String, Object>> maps(String scopeNames, String name, long nowNanos) {
    var maps = new ArrayList<Map<String, Object>>();
    for (var point : points.getOrDefault(key(scopeNames, name), new ArrayDeque<>()))
      maps.add(JsonText.object("secondsAgo", ActorRow.rounded((nowNanos - point.nanos) / 1e9), "failed", point.failed,
          "lost", point.lost, "waiting", point.waiting));
    return maps;
  }
}
