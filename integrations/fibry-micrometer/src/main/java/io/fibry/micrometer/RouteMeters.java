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
 * Meters of the exchanges of an HTTP server, with the tags {@code server} and {@code route}: the
 * timer {@code fibry.route.answered}, the counter {@code fibry.route.failed}, and the gauge
 * {@code fibry.route.open}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.RouteMetersTest" region="routes"}
 *
 * <p>A route is named as it was written, so the number of meters does not grow with the number of
 * paths. Requests without a route count as {@value #NONE}. The meters stay after the server has
 * ended, with its last values, until {@link #close}.
 */
public final class RouteMeters implements MeterBinder, AutoCloseable {
  private static final String NONE = "none";

  private final Tags tags;
  private final CachedSample<List<RouteStats>> stats; // always the same routes, in the same order
  private final BoundMeters bound = new BoundMeters();

  /**
   * Meters with the tags {@code server} and {@code route}.
   *
   * @param name the value of the tag {@code server}
   * @param server whose routes they tell of
   */
  public RouteMeters(String name, HttpServer server) {
    this(name, server, Tags.empty());
  }

  /**
   * Meters with these tags and more.
   *
   * @param name the value of the tag {@code server}
   * @param server whose routes they tell of
   * @param tags on all meters
   */
  public RouteMeters(String name, HttpServer server, Iterable<Tag> tags) {
    this.tags = Tags.of("server", name).and(tags);
    this.stats = new CachedSample<>(server::stats);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (int i = 0; i < stats.sample().size(); i++) bind(registry, i);
  }

  /** The functions keep the stats, to which the registry refers weakly. */
  private void bind(MeterRegistry registry, int place) {
    var route = statsAt(place).route();
    var own = tags.and("route", route.isEmpty() ? NONE : route);
    bound.add(registry, FunctionTimer
        .builder("fibry.route.answered", stats, weak -> statsAt(place).answered(),
            weak -> statsAt(place).totalTime().toNanos(),
            TimeUnit.NANOSECONDS)
        .tags(own).description("Exchanges, from their first bytes until their answers were written")
        .register(registry));
    bound.add(registry, FunctionCounter.builder("fibry.route.failed", stats, weak -> statsAt(place).failed()).tags(own)
        .baseUnit("exchanges").description("Exchanges that were answered with 500 or above").register(registry));
    bound.add(registry,
        Gauge.builder("fibry.route.open", () -> statsAt(place).openWebSockets()).tags(own).baseUnit("connections")
            .description("WebSockets now").register(registry));
  }

  private RouteStats statsAt(int place) {
    return stats.sample().get(place);
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    bound.remove();
  }
}
