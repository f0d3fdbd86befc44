package io.fibry.dashboard;

import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.RouteStats;
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

  /** The routes of a server at one moment; always the same routes, in the same order. */
  record RoutesSample(String title, List<RouteTrend> trends) implements PanelSample {
    static final int MAX_ROWS = 100;

    /** Orders routes with problems first, then by the number of exchanges. */
    private static final Comparator<RouteTrend> BY_URGENCY =
        Comparator.comparing((RouteTrend trend) -> trend.problems().isEmpty())
            .thenComparing(trend -> trend.stats().answered(), Comparator.reverseOrder());

    static RoutesSample first(String title, List<RouteStats> stats) {
      return new RoutesSample(title, stats.stream().map(RouteTrend::first).toList());
    }

    RoutesSample next(List<RouteStats> stats, long elapsedNanos) {
      return new RoutesSample(title, IntStream.range(0, stats.size())
          .mapToObj(i -> trends.get(i).next(stats.get(i), elapsedNanos)).toList());
    }

    @Override
    public Map<String, Object> asMap() {
      // requests without a route are shown if there were any
      var candidates = trends.stream()
          .filter(trend -> !trend.stats().route().isEmpty() || trend.stats().answered() > 0).toList();
      Set<RouteTrend> chosen = Collections.newSetFromMap(new IdentityHashMap<>());
      candidates.stream().sorted(BY_URGENCY).limit(MAX_ROWS).forEach(chosen::add);
      return JsonText.object("title", title, "routeCount", candidates.size(), "routes",
          candidates.stream().filter(chosen::contains).map(RouteTrend::asMap).toList());
    }
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos) {
    var stats = server.stats();
    return previous.filter(RoutesSample.class::isInstance)
        .map(sample -> ((RoutesSample) sample).next(stats, elapsedNanos))
        .orElseGet(() -> RoutesSample.first(title, stats));
  }
}
