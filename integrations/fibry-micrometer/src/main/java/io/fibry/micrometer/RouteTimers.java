package io.fibry.micrometer;

import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.EndedExchange;
import io.fibry.net.HttpServer.ExchangeHook;
import io.fibry.net.HttpServer.ExchangeListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a server's exchanges in one registry. A route has a timer for each status, made at
 * the first response with this status. Later exchanges find the timer without a lock, and allocate
 * nothing here. Thread-safe.
 */
final class RouteTimers implements ExchangeListener, AutoCloseable {
  private static final int FIRST_STATUS = 100;
  private static final int STATUSES = 500; // 100 to 599

  private final MeterRegistry registry;
  private final Duration[] bounds; // of the buckets
  private final Map<String, TimersOfRoute> routes = new HashMap<>(); // not changed after this is a listener
  private final BoundMeters registered = new BoundMeters();
  private boolean isClosed; // guarded by the monitor
  private @Nullable ExchangeHook hook; // guarded by the monitor; null until exchanges are timed

  /** The timers of one route by their status, which are null until the first such response. */
  private record TimersOfRoute(Tags tags, AtomicReferenceArray<@Nullable Timer> byStatus) {}

  RouteTimers(MeterRegistry registry, Duration[] bounds) {
    this.registry = registry;
    this.bounds = bounds;
  }

  /** Adds a route. Called before the first exchange. */
  void addRoute(String route, Tags tags) {
    routes.put(route, new TimersOfRoute(tags, new AtomicReferenceArray<>(STATUSES)));
  }

  /** Begins to time exchanges. */
  synchronized void begin(HttpServer server) {
    hook = server.onExchangeEnd(this);
  }

  @Override
  public void exchangeEnded(EndedExchange exchange) {
    var route = routes.get(exchange.route());
    var timer = route.byStatus.get(exchange.status() - FIRST_STATUS);
    if (timer == null) timer = add(route, exchange);
    if (timer != null) timer.record(exchange.duration());
  }

  /** Returns null if the meters have been closed. */
  private synchronized @Nullable Timer add(TimersOfRoute route, EndedExchange exchange) {
    if (isClosed) return null;
    var timer = Timer.builder("fibry.http.requests")
        .tags(route.tags).tag("status", Integer.toString(exchange.status())).tag("outcome", exchange.outcome().name())
        .description("Exchanges, from their first bytes until their responses were written")
        .serviceLevelObjectives(bounds).register(registry);
    registered.add(registry, timer);
    route.byStatus.set(exchange.status() - FIRST_STATUS, timer);
    return timer;
  }

  /** Removes the timers from the registry. Exchanges that end later are not timed. */
  @Override
  public synchronized void close() {
    isClosed = true;
    if (hook != null) hook.close();
    registered.remove();
  }
}
