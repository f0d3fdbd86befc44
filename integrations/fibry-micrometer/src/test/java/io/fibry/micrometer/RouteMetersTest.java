package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.EndedExchange;
import io.fibry.net.HttpServer.Outcome;
import io.fibry.support.Patience;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RouteMetersTest {
  private final MockClock clock = new MockClock();
  private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
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

  private void get(HttpServer target, String path) throws Exception {
    client.send(HttpRequest.newBuilder(URI.create("http://localhost:" + target.port() + path)).build(),
        BodyHandlers.discarding());
  }

  private long timedCount(String method, String uri, int status, Outcome outcome) {
    var timer = registry.find("fibry.http.requests").tags("server", "shop", "method", method, "uri", uri, "status",
        Integer.toString(status), "outcome", outcome.name()).timer();
    return timer == null ? 0 : timer.count();
  }

  private long responseCount(String uri, Outcome outcome) {
    return (long) registry.get("fibry.http.responses").tags("server", "shop", "uri", uri, "outcome", outcome.name())
        .functionCounter().count();
  }

  private long openCount(String uri) {
    return (long) registry.get("fibry.http.websockets").tag("server", "shop").tag("uri", uri).gauge().value();
  }

  /** Waits, because exchanges are counted after their response. */
  private void awaitValue(long expected, LongSupplier value) {
    Patience.eventually(() -> {
      clock.addSeconds(1); // so that the meter takes a sample
      return value.getAsLong() == expected;
    });
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
    var webSocket = client.newWebSocketBuilder()
        .buildAsync(URI.create("ws://localhost:" + server.port() + "/live"), new WebSocket.Listener() {}).get();
    awaitValue(1, () -> openCount("/live"));
    awaitValue(3, () -> timedCount("GET", "/orders/{id}", 200, Outcome.SUCCESS));
    awaitValue(1, () -> timedCount("any", "/broken", 503, Outcome.UNAVAILABLE));
    awaitValue(1, () -> timedCount("none", "none", 404, Outcome.CLIENT_ERROR));
    awaitValue(1, () -> timedCount("any", "/live", 101, Outcome.INFORMATIONAL));
    assertEquals(4, registry.find("fibry.http.requests").timers().size());
    assertEquals(Set.of("/orders/{id}", "/broken", "/live", "none"), registry.getMeters().stream()
        .map(meter -> meter.getId().getTag("uri")).filter(Objects::nonNull).collect(Collectors.toSet()));
    var orders = server.stats().stream().filter(stats -> stats.route().equals("GET /orders/{id}")).findFirst();
    assertEquals(orders.orElseThrow().totalTime().toNanos(), registry.get("fibry.http.requests")
        .tag("uri", "/orders/{id}").timer().totalTime(TimeUnit.NANOSECONDS), 1);
    webSocket.abort();
    awaitValue(0, () -> openCount("/live"));

    meters.close();
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void loadOfServerIsMetered() {
    var begun = new CountDownLatch(1);
    var open = new CountDownLatch(1);
    var routes = HttpRoutes.none().text("/slow", exchange -> {
      begun.countDown();
      open.await();
      return "done";
    });
    try (var busy = HttpServer.open(ActorSystem.anonymous(), 0, routes, o -> o.withMaxExchanges(7))) {
      var meters = new RouteMeters("busy", busy, Tags.of("zone", "a"));
      meters.bindTo(registry);
      var response = client.sendAsync(HttpRequest.newBuilder(
          URI.create("http://localhost:" + busy.port() + "/slow")).build(), BodyHandlers.discarding());
      Patience.await(begun);

      awaitValue(1, () -> load("working"));
      assertEquals(0, load("waiting"));
      assertEquals(7, load("max.exchanges"));
      assertEquals(1, load("connections"));
      assertEquals(0, registry.get("fibry.server.cut.off").tags("server", "busy", "zone", "a").functionCounter()
          .count());
      open.countDown();
      assertEquals(200, Patience.value(response).statusCode());
      awaitValue(0, () -> load("working"));

      meters.close();
      assertEquals(List.of(), registry.getMeters());
    }
  }

  private long load(String name) {
    return (long) registry.get("fibry.server." + name).tags("server", "busy", "zone", "a").gauge().value();
  }

  @Test
  void responsesAreMeteredByStatus() throws Exception {
    new RouteMeters("shop", server).bindTo(registry);
    get("/orders/1");
    get("/broken");
    get("/broken");
    get("/nowhere");
    client.newWebSocketBuilder()
        .buildAsync(URI.create("ws://localhost:" + server.port() + "/live"), new WebSocket.Listener() {}).get().abort();

    awaitValue(1, () -> responseCount("/orders/{id}", Outcome.SUCCESS));
    awaitValue(2, () -> responseCount("/broken", Outcome.UNAVAILABLE));
    awaitValue(1, () -> responseCount("none", Outcome.CLIENT_ERROR));
    awaitValue(1, () -> responseCount("/live", Outcome.INFORMATIONAL));
    assertEquals(0, responseCount("/broken", Outcome.SERVER_ERROR));
    assertEquals(0, responseCount("/orders/{id}", Outcome.REDIRECTION));
  }

  /** A registry for Prometheus exposes these buckets as {@code .._seconds_bucket}. */
  @Test
  void routeTimerHasSameBucketsAsServerStats() throws Exception {
    new RouteMeters("shop", server).bindTo(registry);
    for (int i = 0; i < 3; i++) get("/orders/" + i);
    awaitValue(3, () -> timedCount("GET", "/orders/{id}", 200, Outcome.SUCCESS));

    var timer = registry.get("fibry.http.requests").tag("uri", "/orders/{id}").timer();
    var buckets = timer.takeSnapshot().histogramCounts();

    assertEquals(server.stats().getFirst().times().buckets().stream().map(HttpServer.TimeBucket::bound).toList(),
        Arrays.stream(buckets).map(bucket -> Duration.ofNanos((long) bucket.bucket(TimeUnit.NANOSECONDS))).toList());
    assertEquals(3, buckets[buckets.length - 1].count());
  }

  @Test
  void exchangesAfterCloseOfMetersAreNotTimed() throws Exception {
    var meters = new RouteMeters("shop", server);
    meters.bindTo(registry);
    get("/orders/1");
    awaitValue(1, () -> timedCount("GET", "/orders/{id}", 200, Outcome.SUCCESS));
    var timer = registry.get("fibry.http.requests").tag("uri", "/orders/{id}").timer();

    meters.close();
    get("/orders/2");
    awaitValue(2, () -> server.stats().stream().mapToLong(HttpServer.RouteStats::answered).sum());

    assertEquals(1, timer.count());
    assertEquals(List.of(), registry.getMeters());
  }

  /** A thread may find no timer for its status, while another thread closes the meters. */
  @Test
  void exchangeThatEndsDuringCloseMakesNoTimer() {
    var timers = new RouteTimers(registry, new Duration[] {Duration.ofSeconds(1)});
    timers.addRoute("/", Tags.empty());
    timers.exchangeEnded(new EndedExchange("/", "GET", "http", 200, Duration.ofMillis(1)));
    assertEquals(1, registry.get("fibry.http.requests").timer().count());

    timers.close();
    timers.exchangeEnded(new EndedExchange("/", "GET", "http", 404, Duration.ofMillis(1)));

    assertEquals(List.of(), registry.getMeters());
  }

  /** With a common timer, the percentiles of a route would be wrong during an overload. */
  @Test
  void quickRefusalsHaveNoTimerInCommonWithSuccesses() {
    var timers = new RouteTimers(registry, new Duration[] {Duration.ofMillis(1), Duration.ofSeconds(1)});
    timers.addRoute("/", Tags.empty());
    timers.exchangeEnded(new EndedExchange("/", "GET", "http", 200, Duration.ofMillis(700)));
    for (int i = 0; i < 100; i++)
      timers.exchangeEnded(new EndedExchange("/", "GET", "http", 503, Duration.ofNanos(50_000)));

    var successes = registry.get("fibry.http.requests").tag("outcome", "SUCCESS").timer();
    assertEquals(List.of(0.0, 1.0), Arrays.stream(successes.takeSnapshot().histogramCounts())
        .map(CountAtBucket::count).toList());
    assertEquals(100, registry.get("fibry.http.requests").tags("status", "503", "outcome", "UNAVAILABLE").timer()
        .count());
  }

  @Test
  void metersKeepCountsAfterServerIsKilled() throws Exception {
    new RouteMeters("shop", server, Tags.of("floor", "one")).bindTo(registry);
    get("/orders/1");

    server.kill();

    awaitValue(1, () -> timedCount("GET", "/orders/{id}", 200, Outcome.SUCCESS));
    assertTrue(registry.getMeters().stream().allMatch(meter -> "one".equals(meter.getId().getTag("floor"))));
  }

  /** After the kill, the thread of the exchange still counts the exchange. */
  @Test
  void exchangeIsCountedWhenServerIsKilledAfterResponse() throws Exception {
    var serverToKill = new CompletableFuture<HttpServer>();
    var routes = HttpRoutes.none().stream("/last", exchange -> {
      exchange.outputStream().write('x');
      exchange.outputStream().close(); // sends the response
    }).intercept((exchange, next) -> {
      next.run();
      serverToKill.join().kill();
    });
    serverToKill.complete(HttpServer.open(ActorSystem.anonymous(), 0, routes, o -> o));
    new RouteMeters("shop", serverToKill.join()).bindTo(registry);

    get(serverToKill.join(), "/last");

    awaitValue(1, () -> timedCount("any", "/last", 200, Outcome.SUCCESS));
  }
}
