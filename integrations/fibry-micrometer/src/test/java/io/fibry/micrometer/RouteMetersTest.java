package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
    client.send(HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path)).build(),
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

  @Test
  void theExchangesOfARouteAreMetersWhateverTheirPaths() throws Exception {
    // @start region="routes"
    var meters = new RouteMeters("shop", server);
    meters.bindTo(registry);
    // @end
    for (int i = 0; i < 3; i++) get("/orders/" + i);
    get("/broken");
    get("/nowhere/" + System.nanoTime());
    var live = client.newWebSocketBuilder()
        .buildAsync(URI.create("ws://localhost:" + server.port() + "/live"), new WebSocket.Listener() {}).get();
    while (open("/live") < 1) LockSupport.parkNanos(1_000_000); // a second at most

    assertEquals(3, answered("GET /orders/{id}"));
    assertEquals(0, failed("GET /orders/{id}"));
    assertEquals(List.of(1L, 1L), List.of(answered("/broken"), failed("/broken")));
    assertEquals(List.of(1L, 0L), List.of(answered("none"), failed("none")));
    assertEquals(1, answered("/live"));
    assertEquals(Set.of("GET /orders/{id}", "/broken", "/live", "none"), registry.getMeters().stream()
        .map(meter -> meter.getId().getTag("route")).collect(Collectors.toSet()));
    var orders = server.stats().stream().filter(one -> one.route().equals("GET /orders/{id}")).findFirst();
    assertEquals(orders.orElseThrow().time().toNanos(), registry.get("fibry.route.answered")
        .tag("route", "GET /orders/{id}").functionTimer().totalTime(TimeUnit.NANOSECONDS), 1);
    live.abort();
    while (open("/live") > 0) LockSupport.parkNanos(1_000_000);

    meters.close();
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void aServerThatHasEndedStillSaysWhatItDid() throws Exception {
    new RouteMeters("shop", server, Tags.of("floor", "one")).bindTo(registry);
    get("/orders/1");

    server.kill();

    while (answered("GET /orders/{id}") < 1) LockSupport.parkNanos(1_000_000); // a second at most
    assertTrue(registry.getMeters().stream().allMatch(meter -> "one".equals(meter.getId().getTag("floor"))));
  }
}
