package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.dashboard.ProcessPauses.PauseHistory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The exchanges of a route whose handlers are at work. A handler that waits for its client is not.
 *
 * @param exchanges how many there are
 * @param maxTime for how long at least the handler of one of them has been at work
 * @param maxActiveTime the same without pauses of the process and waits for a carrier
 */
record RouteWork(int exchanges, Duration maxTime, Duration maxActiveTime) {
  static final RouteWork NONE = new RouteWork(0, Duration.ZERO, Duration.ZERO);

  /**
   * Returns the work of each route of a server that has any, by the actors of its connections. A
   * server does not tell its scope, so connections of servers with the same name are added up.
   */
  static Map<String, RouteWork> of(String server, List<ActorRow> rows, PauseHistory pauses) {
    var works = new HashMap<String, RouteWork>();
    for (var row : rows) {
      var stats = row.stats();
      if (isConnection(server, stats))
        works.merge(stats.messageType().get(), new RouteWork(1, stats.busyFor(),
            pauses.activeTime(stats)), RouteWork::plus);
    }
    return works;
  }

  /** Returns whether the actor is a connection of the server whose handler is at work. */
  static boolean isConnection(String server, ActorStats stats) {
    return stats.messageType().isPresent() && stats.busyFor().isPositive() && stats.name().startsWith(server + "/");
  }

  private RouteWork plus(RouteWork other) {
    return new RouteWork(exchanges + other.exchanges, max(maxTime, other.maxTime),
        max(maxActiveTime, other.maxActiveTime));
  }

  private static Duration max(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }
}
