package io.fibry.micrometer;

import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.ServerLoad;
import io.fibry.net.HttpServer.TimeBucket;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

/**
 * Meters of an HTTP server and its routes. The meters of routes have the tags {@code server} and
 * {@code route}. The timer {@code fibry.route.answered} times exchanges. Its buckets are fixed, so
 * a monitoring system such as Prometheus can add them for several servers, and compute percentiles.
 * The counter {@code fibry.route.responses} counts exchanges by their status, in the tag
 * {@code outcome}. The counter {@code fibry.route.failed} counts exchanges with a status of 500 or
 * above. The gauge {@code fibry.route.open} counts open WebSockets. Thread-safe.
 *
 * <p>The load of the whole server has only the tag {@code server}: the gauges
 * {@code fibry.server.working}, {@code fibry.server.waiting}, {@code fibry.server.max.exchanges}
 * and {@code fibry.server.connections}, and the counter {@code fibry.server.cut.off}, as in
 * {@link HttpServer#load}.
 * {@snippet class="io.fibry.micrometer.RouteMetersTest" region="routes"}
 *
 * <p>The tag has the template of the route, such as <code>/users/{id}</code>, and not the path of
 * the request. So the number of meters does not grow with the number of paths. Requests without a
 * route have the route {@value #NONE}. The timer times exchanges that end after {@link #bindTo};
 * the counters count exchanges since the server was opened. After the server has ended, the meters
 * keep their last values until {@link #close}.
 */
public final class RouteMeters implements MeterBinder, AutoCloseable {
  private static final String NONE = "none";

  private final Tags tags;
  private final HttpServer server;
  private final BoundMeters registered = new BoundMeters();
  private final List<HttpServer.ExchangeHook> hooks = new ArrayList<>(); // guarded by the monitor

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
    this.server = server;
  }

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    var timers = new HashMap<String, Timer>(); // by route; not changed after the listener is registered
    // always the same routes, in the same order
    var stats = new CachedSample<>(server::stats, registry.config().clock());
    for (int i = 0; i < stats.sample().size(); i++) bind(registry, stats, i, timers);
    bindLoad(registry, new CachedSample<>(server::load, registry.config().clock()));
    hooks.add(server.onExchangeEnd(exchange -> timers.get(exchange.route()).record(exchange.duration())));
  }

  /**
   * Registers the meters of the route at this index. The registry has only a weak reference to
   * {@code stats}. The lambdas have a strong reference, so {@code stats} is not collected.
   */
  private void bind(MeterRegistry registry, CachedSample<List<RouteStats>> stats, int index,
      Map<String, Timer> timers) {
    var route = stats.sample().get(index).route();
    var routeTags = tags.and("route", route.isEmpty() ? NONE : route);
    var timer = Timer.builder("fibry.route.answered").tags(routeTags)
        .description("Exchanges, from their first bytes until their responses were written")
        .serviceLevelObjectives(bounds(stats.sample().get(index))).register(registry);
    registered.add(registry, timer);
    timers.put(route, timer);
    bindCount(registry, stats, index, routeTags, "upgraded", ResponseCounts::upgraded);
    bindCount(registry, stats, index, routeTags, "success", ResponseCounts::successful);
    bindCount(registry, stats, index, routeTags, "redirection", ResponseCounts::redirected);
    bindCount(registry, stats, index, routeTags, "client_error", ResponseCounts::clientErrors);
    bindCount(registry, stats, index, routeTags, "server_error", ResponseCounts::serverErrors);
    bindCount(registry, stats, index, routeTags, "unavailable", ResponseCounts::unavailable);
    registered.add(registry, FunctionCounter
        .builder("fibry.route.failed", stats, unused -> stats.sample().get(index).failed()).tags(routeTags)
        .description("Exchanges that were answered with 500 or above").register(registry));
    registered.add(registry,
        Gauge.builder("fibry.route.open", () -> stats.sample().get(index).openWebSockets()).tags(routeTags)
            .description("Open WebSockets").register(registry));
  }

  private void bindCount(MeterRegistry registry, CachedSample<List<RouteStats>> stats, int index, Tags routeTags,
      String outcome, ToLongFunction<ResponseCounts> count) {
    registered.add(registry, FunctionCounter
        .builder("fibry.route.responses", stats, unused -> count.applyAsLong(stats.sample().get(index).responses()))
        .tags(routeTags).tag("outcome", outcome).description("Exchanges by the status of their response")
        .register(registry));
  }

  private void bindLoad(MeterRegistry registry, CachedSample<ServerLoad> load) {
    bindLoad(registry, load, "working", "Exchanges whose handlers are at work", ServerLoad::working);
    bindLoad(registry, load, "waiting", "Exchanges that wait for their clients", ServerLoad::waiting);
    bindLoad(registry, load, "max.exchanges", "Exchanges whose handlers may be at work", ServerLoad::maxExchanges);
    bindLoad(registry, load, "connections", "Open connections", ServerLoad::connections);
    registered.add(registry,
        FunctionCounter.builder("fibry.server.cut.off", load, unused -> load.sample().cutOffClients()).tags(tags)
            .description("Clients that were cut off because they exceeded a limit").register(registry));
  }

  /** The lambda has a strong reference to {@code load}, as in {@link #bind}. */
  private void bindLoad(MeterRegistry registry, CachedSample<ServerLoad> load, String name, String description,
      ToIntFunction<ServerLoad> value) {
    registered.add(registry, Gauge.builder("fibry.server." + name, () -> value.applyAsInt(load.sample())).tags(tags)
        .description(description).register(registry));
  }

  private static Duration[] bounds(RouteStats stats) {
    return stats.times().buckets().stream().map(TimeBucket::bound).toArray(Duration[]::new);
  }

  /** Removes the meters from their registries. */
  @Override
  public synchronized void close() {
    hooks.forEach(HttpServer.ExchangeHook::close);
    hooks.clear();
    registered.remove();
  }
}
