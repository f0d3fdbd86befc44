package io.fibry.dashboard;

import io.fibry.ActorStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The exchanges whose handlers snapshots have seen at work, with the actor that each awaits and its
 * stack. The details of a slow route show them, because an exchange may be over when an operator
 * looks. Has at most {@link #MAX_EXCHANGES} exchanges of each route: the longest of the last
 * minute. Used by one thread at a time.
 */
final class RouteExchanges {
  static final int MAX_EXCHANGES = 3; // of a route
  private static final int MAX_AT_WORK = 5; // that the details show
  private static final int MAX_ROUTES = 200;
  private static final long MIN_SEEN_NANOS = Duration.ofMillis(100).toNanos(); // shorter exchanges are not slow
  private static final long SAME_START_NANOS = Duration.ofMillis(50).toNanos(); // the reading of a time may vary by it

  /**
   * An exchange as a snapshot has seen it.
   *
   * @param nanos when it was seen
   * @param timeMillis the time of day when it was seen
   */
  private record SeenExchange(long nanos, long timeMillis, ActorStats connection) {
    long busyNanos() {
      return connection.busyFor().toNanos();
    }

    boolean isSameAs(SeenExchange other) {
      return connection.name().equals(other.connection.name())
          && Math.abs(nanos - busyNanos() - other.nanos + other.busyNanos()) < SAME_START_NANOS;
    }

    Map<String, Object> asMap() {
      var map = JsonText.object("connection", connection.name(), "millis", connection.busyFor().toMillis(), "time",
          timeMillis, "stack", connection.stack());
      connection.awaited().ifPresent(actor -> map.put("awaits", actor));
      return map;
    }
  }

  private static final Comparator<SeenExchange> LONGEST_FIRST =
      Comparator.comparingLong(SeenExchange::busyNanos).reversed();

  private final Map<String, List<SeenExchange>> seenByRoute = new HashMap<>(); // by server and route; longest first

  /** Adds the exchanges of these servers that are at work in a snapshot, and forgets old ones. */
  void add(long nanos, long timeMillis, List<String> servers, List<ActorRow> rows) {
    seenByRoute.values().removeIf(exchanges -> {
      exchanges.removeIf(exchange -> nanos - exchange.nanos >= ActorProblem.RECENT_NANOS);
      return exchanges.isEmpty();
    });
    if (servers.isEmpty()) return;
    for (var row : rows)
      if (row.stats().busyFor().toNanos() >= MIN_SEEN_NANOS && row.stats().messageType().isPresent())
        for (var server : servers) if (RouteWork.isConnection(server, row.stats()))
          add(key(server, row.stats().messageType().get()), new SeenExchange(nanos, timeMillis, row.stats()));
  }

  private void add(String key, SeenExchange exchange) {
    if (seenByRoute.size() >= MAX_ROUTES && !seenByRoute.containsKey(key)) return;
    var exchanges = seenByRoute.computeIfAbsent(key, any -> new ArrayList<>());
    exchanges.removeIf(exchange::isSameAs); // seen again, and longer
    exchanges.add(exchange);
    exchanges.sort(LONGEST_FIRST);
    if (exchanges.size() > MAX_EXCHANGES) exchanges.removeLast();
  }

  private static String key(String server, String route) {
    return server + "\n" + route;
  }

  /** Returns the exchanges of a route that are at work in a snapshot, the longest first. */
  static List<Map<String, Object>> atWork(String server, String route, List<ActorRow> rows, long timeMillis) {
    return rows.stream().map(ActorRow::stats)
        .filter(stats -> RouteWork.isConnection(server, stats) && stats.messageType().get().equals(route))
        .map(stats -> new SeenExchange(0, timeMillis, stats)).sorted(LONGEST_FIRST).limit(MAX_AT_WORK)
        .map(SeenExchange::asMap).toList();
  }

  /** Returns the longest exchanges of a route that snapshots of the last minute have seen. */
  List<Map<String, Object>> seen(String server, String route, long nowNanos) {
    return seenByRoute.getOrDefault(key(server, route), List.of()).stream()
        .filter(exchange -> exchange.nanos < nowNanos).map(SeenExchange::asMap).toList();
  }
}
