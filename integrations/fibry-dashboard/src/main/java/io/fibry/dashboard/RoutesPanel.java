package io.fibry.dashboard;

import io.fibry.dashboard.ProcessPauses.PauseHistory;
import io.fibry.dashboard.RouteTrend.RouteLimits;
import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.RouteFailure;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.ServerLoad;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A panel with the routes of an HTTP server. */
record RoutesPanel(String title, HttpServer server) implements Panel {

  /** The load and the routes of a server at one moment. All samples have the same routes. */
  record RoutesSample(String title, ServerLoad load, List<RouteTrend> trends)
      implements PanelSample {
    static final int MAX_ROWS = 100;

    static RoutesSample first(String title, ServerLoad load, List<RouteStats> stats, Map<String, RouteWork> works,
        RouteLimits limits) {
      return new RoutesSample(title, load,
          stats.stream().map(route -> RouteTrend.first(route, work(works, route), limits)).toList());
    }

    /**
     * Returns the sample with the exact times of failures.
     *
     * @param failures the last failures of all routes, the newest first, read after the counts
     */
    RoutesSample withFailures(List<RouteFailure> failures) {
      if (failures.isEmpty()) return this;
      var failuresByRoute = failures.stream().collect(Collectors.groupingBy(RouteFailure::route));
      return new RoutesSample(title, load, trends.stream().map(
          trend -> trend.withFailures(failuresByRoute.getOrDefault(trend.stats().route(), List.of()))).toList());
    }

    RoutesSample next(ServerLoad nextLoad, List<RouteStats> stats, Map<String, RouteWork> works, RouteLimits limits,
        PauseHistory pauses, long elapsedNanos) {
      return new RoutesSample(title, nextLoad, IntStream.range(0, stats.size()).mapToObj(
          i -> trends.get(i).next(stats.get(i), work(works, stats.get(i)), limits, pauses, elapsedNanos)).toList());
    }

    private static RouteWork work(Map<String, RouteWork> works, RouteStats route) {
      return works.getOrDefault(route.route(), RouteWork.NONE);
    }

    /** Returns the rank of the most urgent problem; routes without problems come last. */
    private static int urgency(RouteTrend trend) {
      return trend.problems().isEmpty() ? Integer.MAX_VALUE : trend.problems().list().getFirst().ordinal();
    }

    @Override
    public Map<String, Object> asMap() {
      // requests without a route are shown if there were any
      var candidates = trends.stream()
          .filter(trend -> !trend.stats().route().isEmpty() || trend.stats().answered() > 0).toList();
      Set<RouteTrend> chosen = Collections.newSetFromMap(new IdentityHashMap<>());
      candidates.stream().sorted(Comparator.comparingInt(RoutesSample::urgency)
          .thenComparing(trend -> trend.stats().answered(), Comparator.reverseOrder()))
          .limit(MAX_ROWS).forEach(chosen::add);
      // the most urgent problems first; the other routes keep their order
      var routes = candidates.stream().filter(chosen::contains).sorted(Comparator.comparingInt(RoutesSample::urgency))
          .map(RouteTrend::asMap).toList();
      return JsonText.object("title", title, "working", load.working(), "waiting", load.waiting(), "maxExchanges",
          load.maxExchanges(), "connections", load.connections(), "cutOff", load.cutOffClients(), "routeCount",
          candidates.size(), "recentMillis", trends.isEmpty() ? 0 : trends.getFirst().olderNanos() / 1_000_000,
          "routes",
          routes);
    }
  }

  /** Returns the names of the servers of these panels. */
  static List<String> servers(List<Panel> panels) {
    return panels.stream().filter(RoutesPanel.class::isInstance).map(panel -> ((RoutesPanel) panel).server.name())
        .distinct().toList();
  }

  /**
   * Returns the exchanges of a route, at work or seen by earlier snapshots, and its last failures,
   * the newest first, as JSON.
   *
   * @param title the title of the panel with the route
   * @param texts whether the texts of exceptions may be shown
   * @param exchanges returns the exchanges of the route at the server with this name
   */
  static String detailsJson(List<Panel> panels, String title, String route, boolean texts,
      Function<String, Map<String, Object>> exchanges) {
    for (var panel : panels)
      if (panel instanceof RoutesPanel routes && routes.title.equals(title)) {
        var map = exchanges.apply(routes.server.name());
        map.put("failures", routes.server.lastFailures().stream().filter(failure -> failure.route().equals(route))
            .map(failure -> asMap(failure, texts)).toList());
        return JsonText.of(map);
      }
    return JsonText.of(JsonText.object("atWork", List.of(), "seen", List.of(), "failures", List.of()));
  }

  private static Map<String, Object> asMap(RouteFailure failure, boolean texts) {
    var map = JsonText.object("time", failure.time(), "status", failure.status(), "type", failure.type(), "stack",
        failure.stack());
    failure.number().ifPresent(number -> map.put("number", number));
    if (texts) failure.message().ifPresent(text -> map.put("message", text));
    return map;
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos, PanelInput input) {
    var load = server.load();
    var stats = server.stats();
    var works = RouteWork.of(server.name(), input.rows(), input.pauses());
    var limits = input.limits();
    return previous.filter(RoutesSample.class::isInstance)
        .map(sample -> ((RoutesSample) sample).next(load, stats, works, limits, input.pauses(), elapsedNanos))
        .orElseGet(() -> RoutesSample.first(title, load, stats, works, limits)).withFailures(server.lastFailures());
  }
}
