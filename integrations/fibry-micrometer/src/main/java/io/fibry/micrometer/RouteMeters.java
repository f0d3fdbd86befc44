package io.fibry.micrometer;

import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.RouteStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Meters of an HTTP server's routes, with the tags {@code server} and {@code route}. The timer
 * {@code fibry.route.answered} and the counter {@code fibry.route.failed} measure exchanges. The
 * gauge {@code fibry.route.open} counts open WebSockets. Thread-safe.
 * {@snippet class="io.fibry.micrometer.RouteMetersTest" region="routes"}
 *
 * <p>The tag has the template of the route, such as <code>/users/{id}</code>, and not the path of
 * the request. So the number of meters does not grow with the number of paths. Requests without a
 * route have the route {@value #NONE}. After the server has ended, the meters keep their last
 * values until {@link #close}.
 */
public final class RouteMeters implements MeterBinder, AutoCloseable {
  private static final String NONE = "none";

  private final Tags tags;
  private final CachedSample<List<RouteStats>> stats; // always the same routes, in the same order
  private final BoundMeters registered = new BoundMeters();

  /**
   * Makes meters with the tags {@code server} and {@code route}.
   *
   * @param name the value of the tag {@code server}
   * @param server the server to measure
   */
  public RouteMeters(String name, HttpServer server) {
    this(name, server, Tags.empty());
  }

  /**
   * Makes meters with the tags {@code server} and {@code route}, and the given tags.
   *
   * @param name the value of the tag {@code server}
   * @param server the server to measure
   * @param tags more tags of all meters
   */
  public RouteMeters(String name, HttpServer server, Iterable<Tag> tags) {
    this.tags = Tags.of("server", name).and(tags);
    this.stats = new CachedSample<>(server::stats);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (int i = 0; i < stats.sample().size(); i++) bind(registry, i);
  }

  /**
   * Registers the meters of the route at this index. The registry has only a weak reference to
   * {@code stats}. The lambdas have a strong reference, through this object, so {@code stats} is
   * not collected.
   */
  private void bind(MeterRegistry registry, int index) {
    var route = statsAt(index).route();
    var routeTags = tags.and("route", route.isEmpty() ? NONE : route);
    registered.add(registry, FunctionTimer
        .builder("fibry.route.answered", stats, unused -> statsAt(index).answered(),
            unused -> statsAt(index).totalTime().toNanos(),
            TimeUnit.NANOSECONDS)
        .tags(routeTags).description("Exchanges, from their first bytes until their answers were written")
        .register(registry));
    registered.add(registry, FunctionCounter.builder("fibry.route.failed", stats, unused -> statsAt(index).failed())
        .tags(routeTags).baseUnit("exchanges")
        .description("Exchanges that were answered with 500 or above").register(registry));
    registered.add(registry,
        Gauge.builder("fibry.route.open", () -> statsAt(index).openWebSockets()).tags(routeTags).baseUnit("connections")
            .description("Open WebSockets").register(registry));
  }

  private RouteStats statsAt(int index) {
    return stats.sample().get(index);
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
