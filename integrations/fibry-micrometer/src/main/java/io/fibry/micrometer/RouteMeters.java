package io.fibry.micrometer;

import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.Outcome;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.ServerLoad;
import io.fibry.net.HttpServer.TimeBucket;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Meters of an HTTP server and its routes. The timer {@code fibry.http.requests} times exchanges.
 * Like Micrometer's {@code http.server.requests}, the timer has the tags {@code method},
 * {@code uri}, {@code status} and {@code outcome}; a further tag is {@code server}. So quick
 * refusals and slow successes have different timers. The buckets are fixed. A monitoring system
 * such as Prometheus can add them for several servers, and compute percentiles.
 *
 * <p>The counter {@code fibry.http.responses} counts exchanges by their {@code outcome}, and begins
 * at zero for each outcome. The gauge {@code fibry.http.websockets} counts open WebSockets. Both
 * also have the tags {@code server}, {@code method} and {@code uri}. Thread-safe.
 *
 * <p>The values of the tag {@code outcome} are the names of {@link HttpServer.Outcome}:
 * {@code SUCCESS} and so on. A status of 503 is {@code UNAVAILABLE}, because a refusal is no
 * failure of a handler.
 *
 * <p>The load of the whole server has only the tag {@code server}: the gauges
 * {@code fibry.server.working}, {@code fibry.server.waiting}, {@code fibry.server.max.exchanges}
 * and {@code fibry.server.connections}, and the counter {@code fibry.server.cut.off}, as in
 * {@link HttpServer#load}.
 * {@snippet class="io.fibry.micrometer.RouteMetersTest" region="routes"}
 *
 * <p>The tags {@code method} and {@code uri} are from the template of the route, such as
 * <code>GET /users/{id}</code>, and not from the request. So the number of meters grows neither
 * with the number of paths nor with unknown methods. A route for all methods has the method
 * {@value #ANY}. Requests without a route, and malformed requests, have {@value #NONE} in both
 * tags. The timers time exchanges that end after {@link #bindTo}; the counters count exchanges
 * since the server was opened. After the server has ended, the meters keep their last values until
 * {@link #close}.
 */
public final class RouteMeters implements MeterBinder, AutoCloseable {
  private static final String NONE = "none";
  private static final String ANY = "any";

  /** The server at one moment. */
  private record ServerSample(List<RouteStats> routes, ServerLoad load) {}

  private final Tags tags;
  private final HttpServer server;
  private final BoundMeters registered = new BoundMeters();
  private final List<RouteTimers> timers = new ArrayList<>(); // guarded by the monitor

  /**
   * Makes meters.
   *
   * @param name the value of the tag {@code server}
   * @param server the server to measure
   */
  public RouteMeters(String name, HttpServer server) {
    this(name, server, Tags.empty());
  }

  /**
   * Makes meters with further tags.
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
    // always the same routes, in the same order
    var samples = new CachedSample<>(() -> new ServerSample(server.stats(), server.load()), registry.config().clock());
    var routes = samples.sample().routes;
    var routeTimers = new RouteTimers(registry, bounds(routes.getFirst()));
    for (int i = 0; i < routes.size(); i++) {
      var route = routes.get(i).route();
      var routeTags = tagsOf(route);
      routeTimers.addRoute(route, routeTags);
      bind(registry, samples, i, routeTags);
    }
    bindLoad(registry, samples);
    routeTimers.begin(server);
    timers.add(routeTimers);
  }

  /** Returns the tags of a route such as {@code GET /orders}; it is empty without a route. */
  private Tags tagsOf(String route) {
    if (route.isEmpty()) return tags.and("method", NONE, "uri", NONE);
    int pathStart = route.indexOf(' ') + 1;
    return tags.and("method", pathStart == 0 ? ANY : route.substring(0, pathStart - 1), "uri",
        route.substring(pathStart));
  }

  /** Registers the meters of the route at this index. */
  private void bind(MeterRegistry registry, CachedSample<ServerSample> samples, int index, Tags routeTags) {
    for (var outcome : Outcome.values())
      registered.count(registry, "fibry.http.responses", routeTags.and("outcome", outcome.name()),
          "Exchanges by the status of their response",
          () -> samples.sample().routes.get(index).timesByOutcome().get(outcome).count());
    registered.gauge(registry, "fibry.http.websockets", routeTags, "Open WebSockets",
        () -> samples.sample().routes.get(index).openWebSockets());
  }

  private void bindLoad(MeterRegistry registry, CachedSample<ServerSample> samples) {
    bindLoad(registry, samples, "working", "Exchanges whose handlers are at work", ServerLoad::working);
    bindLoad(registry, samples, "waiting", "Exchanges that wait for their clients", ServerLoad::waiting);
    bindLoad(registry, samples, "max.exchanges", "Exchanges whose handlers may be at work", ServerLoad::maxExchanges);
    bindLoad(registry, samples, "connections", "Open connections", ServerLoad::connections);
    registered.count(registry, "fibry.server.cut.off", tags,
        "Clients that were cut off because they exceeded a limit", () -> samples.sample().load.cutOffClients());
  }

  private void bindLoad(MeterRegistry registry, CachedSample<ServerSample> samples, String name, String description,
      ToIntFunction<ServerLoad> value) {
    registered.gauge(registry, "fibry.server." + name, tags, description,
        () -> value.applyAsInt(samples.sample().load));
  }

  private static Duration[] bounds(RouteStats stats) {
    return stats.times().buckets().stream().map(TimeBucket::bound).toArray(Duration[]::new);
  }

  /** Removes the meters from their registries. */
  @Override
  public synchronized void close() {
    timers.forEach(RouteTimers::close);
    timers.clear();
    registered.remove();
  }
}
