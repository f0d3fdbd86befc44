package io.fibry.dashboard;

import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.ServerLoad;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** A panel with the routes of an HTTP server. */
record RoutesPanel(String title, HttpServer server) implements Panel {

  /** The load and the routes of a server at one moment. All samples have the same routes. */
  record RoutesSample(String title, ServerLoad load, List<RouteTrend> trends) implements PanelSample {
    static final int MAX_ROWS = 100;

    /** Orders routes with problems first, then by the number of exchanges. */
    private static final Comparator<RouteTrend> BY_URGENCY =
        Comparator.comparing((RouteTrend trend) -> trend.problems().isEmpty())
            .thenComparing(trend -> trend.stats().answered(), Comparator.reverseOrder());

    /** Orders routes with problems first, then slow routes, and keeps the order of the others. */
    private static final Comparator<RouteTrend> BY_TROUBLE =
        Comparator.comparing((RouteTrend trend) -> trend.problems().isEmpty())
            .thenComparing(trend -> !trend.isSlow());

    static RoutesSample first(String title, ServerLoad load, List<RouteStats> stats) {
      return new RoutesSample(title, load, stats.stream().map(RouteTrend::first).toList());
    }

    RoutesSample next(ServerLoad nextLoad, List<RouteStats> stats, long elapsedNanos) {
      return new RoutesSample(title, nextLoad, IntStream.range(0, stats.size())
          .mapToObj(i -> trends.get(i).next(stats.get(i), elapsedNanos)).toList());
    }

    @Override
    public Map<String, Object> asMap() {
      // requests without a route are shown if there were any
      var candidates = trends.stream()
          .filter(trend -> !trend.stats().route().isEmpty() || trend.stats().answered() > 0).toList();
      Set<RouteTrend> chosen = Collections.newSetFromMap(new IdentityHashMap<>());
      candidates.stream().sorted(BY_URGENCY).limit(MAX_ROWS).forEach(chosen::add);
      return JsonText.object("title", title, "working", load.working(), "waiting", load.waiting(), "maxExchanges",
          load.maxExchanges(), "connections", load.connections(), "cutOff", load.cutOffClients(), "routeCount",
          candidates.size(), "routes",
          candidates.stream().filter(chosen::contains).sorted(BY_TROUBLE).map(RouteTrend::asMap).toList());
    }
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos) {
    var load = server.load();
    var stats = server.stats();
    return previous.filter(RoutesSample.class::isInstance)
        .map(sample -> ((RoutesSample) sample).next(load, stats, elapsedNanos))
        .orElseGet(() -> RoutesSample.first(title, load, stats));
  }
}
