package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.support.Patience;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RouteMetersTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final HttpClient client = HttpClient.newHttpClient();
  private final HttpServer server = HttpServer.open(ActorSystem.anonymous(), 0,
      HttpRoutes.none().text("GET /orders/{id}", exchange -> "order").text("/broken", exchange -> {
        throw new HttpException(503, "for a test");
      }).webSocket("/live", connection -> connection.texts().forEach(text -> {})), o -> o);

  @AfterEach
  void close() {
    client.shutdownNow();
    server.kill();
  }

  private void get(String path) throws Exception {
    get(server, path);
  }

  private void get(HttpServer from, String path) throws Exception {
    client.send(HttpRequest.newBuilder(URI.create("http://localhost:" + from.port() + path)).build(),
        BodyHandlers.discarding());
  }

  private long answered(String route) {
    return (long) registry.get("fibry.route.answered").tag("server", "shop").tag("route", route).functionTimer()
        .count();
  }

  private long failed(String route) {
    return (long) registry.get("fibry.route.failed").tag("server", "shop").tag("route", route).functionCounter()
        .count();
  }

  private long open(String route) {
    return (long) registry.get("fibry.route.open").tag("server", "shop").tag("route", route).gauge().value();
  }

  /** A response comes before its exchange is counted, and counts are kept for a second. */
  private static void awaitFigure(long expected, LongSupplier figure) {
    Patience.eventually(() -> figure.getAsLong() == expected);
  }

  @Test
  void exchangesAreMeteredByRoute() throws Exception {
    // @start region="routes"
    var meters = new RouteMeters("shop", server);
    meters.bindTo(registry);
    // @end
    for (int i = 0; i < 3; i++) get("/orders/" + i);
    get("/broken");
    get("/nowhere/" + System.nanoTime());
    var live = client.newWebSocketBuilder()
        .buildAsync(URI.create("ws://localhost:" + server.port() + "/live"), new WebSocket.Listener() {}).get();
    awaitFigure(1, () -> open("/live"));
    awaitFigure(3, () -> answered("GET /orders/{id}"));
    awaitFigure(0, () -> failed("GET /orders/{id}"));
    awaitFigure(1, () -> answered("/broken"));
    awaitFigure(1, () -> failed("/broken"));
    awaitFigure(1, () -> answered("none"));
    awaitFigure(0, () -> failed("none"));
    awaitFigure(1, () -> answered("/live"));
    assertEquals(Set.of("GET /orders/{id}", "/broken", "/live", "none"), registry.getMeters().stream()
        .map(meter -> meter.getId().getTag("route")).collect(Collectors.toSet()));
    var orders = server.stats().stream().filter(one -> one.route().equals("GET /orders/{id}")).findFirst();
    assertEquals(orders.orElseThrow().totalTime().toNanos(), registry.get("fibry.route.answered")
        .tag("route", "GET /orders/{id}").functionTimer().totalTime(TimeUnit.NANOSECONDS), 1);
    live.abort();
    awaitFigure(0, () -> open("/live"));

    meters.close();
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void killedServerKeepsItsMeters() throws Exception {
    new RouteMeters("shop", server, Tags.of("floor", "one")).bindTo(registry);
    get("/orders/1");

    server.kill();

    awaitFigure(1, () -> answered("GET /orders/{id}"));
    assertTrue(registry.getMeters().stream().allMatch(meter -> "one".equals(meter.getId().getTag("floor"))));
  }

  /** The thread of an exchange continues to its count. */
  @Test
  void serverCountsExchangeKilledAfterItsResponse() throws Exception {
    var killed = new CompletableFuture<HttpServer>();
    var routes = HttpRoutes.none().text("/last", exchange -> "answered").intercept((exchange, next) -> {
      next.run();
      killed.join().kill();
    });
    killed.complete(HttpServer.open(ActorSystem.anonymous(), 0, routes, o -> o));
    new RouteMeters("shop", killed.join()).bindTo(registry);

    get(killed.join(), "/last");

    awaitFigure(1, () -> answered("/last"));
  }
}
