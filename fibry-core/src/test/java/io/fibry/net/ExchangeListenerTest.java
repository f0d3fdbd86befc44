package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Tests the counts of a server's responses, and the listeners that are called for each. */
class ExchangeListenerTest extends HttpFixture {
  private final List<String> ended = new CopyOnWriteArrayList<>();
  private final List<Duration> durations = new CopyOnWriteArrayList<>();

  private void openServer() {
    open(routes -> routes.text("GET /orders/{id}", exchange -> "order").text("/busy", exchange -> {
      throw new HttpException(503, "busy");
    }).text("/broken", exchange -> {
      throw new HttpException(500, "broken");
    }).text("/moved", exchange -> exchange.status(301).path()));
  }

  private void record(HttpServer.EndedExchange exchange) {
    durations.add(exchange.duration());
    ended.add(exchange.route() + " " + exchange.status());
  }

  private HttpServer.RouteStats statsOf(String route) {
    return server.stats().stream().filter(stats -> stats.route().equals(route)).findFirst().orElseThrow();
  }

  @Promise("27.30")
  @Test
  void refusalsAreCountedApartFromOtherServerErrors() {
    openServer();
    for (var path : List.of("/orders/1", "/orders/2", "/busy", "/busy", "/broken", "/moved", "/nowhere"))
      call("GET", path);
    Patience.eventually(() -> server.stats().stream().mapToLong(HttpServer.RouteStats::answered).sum() == 7);

    assertEquals(new ResponseCounts(0, 2, 0, 0, 0, 0, 0), statsOf("GET /orders/{id}").responses());
    assertEquals(new ResponseCounts(0, 0, 0, 0, 0, 0, 2), statsOf("/busy").responses());
    assertEquals(new ResponseCounts(0, 0, 0, 0, 1, 0, 0), statsOf("/broken").responses());
    assertEquals(new ResponseCounts(0, 0, 1, 0, 0, 0, 0), statsOf("/moved").responses());
    assertEquals(new ResponseCounts(0, 0, 0, 1, 0, 0, 0), statsOf("").responses());
    assertTrue(statsOf("/busy").times().percentile(0.99).isPositive());
  }

  @Promise("27.31")
  @Test
  void listenerIsCalledOnceForEachExchange() {
    openServer();
    server.onExchangeEnd(this::record);

    var paths = List.of("/orders/1", "/busy", "/nowhere");
    for (int i = 0; i < paths.size(); i++) {
      call("GET", paths.get(i));
      int expectedCalls = i + 1;
      Patience.eventually(() -> ended.size() == expectedCalls); // a client may get its response before the call
    }

    assertEquals(List.of("GET /orders/{id} 200", "/busy 503", " 404"), ended);
    assertTrue(durations.stream().allMatch(Duration::isPositive));
    assertEquals(durations.getFirst(), statsOf("GET /orders/{id}").totalTime());
  }

  @Promise("27.31")
  @Test
  void listenerGetsMethodAndSchemeOfRequest() {
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().text("/orders", exchange -> "order"),
        options -> options.withProxies("127.0.0.0/8", "::1"));
    server.onExchangeEnd(
        exchange -> ended.add(exchange.method() + " " + exchange.scheme() + " " + exchange.status()));

    call("POST", "/orders");
    Patience.eventually(() -> ended.size() == 1); // each request may have a connection of its own
    call("PURGE", "/orders");
    Patience.eventually(() -> ended.size() == 2);
    send(request("/orders").header("X-Forwarded-Proto", "https"));

    Patience.eventually(() -> ended.size() == 3);
    assertEquals(List.of("POST http 200", "PURGE http 501", "GET https 200"), ended);
  }

  @Promise("27.31")
  @Test
  void closeOfListenerHookEndsOnlyItsOwnRegistration() {
    openServer();
    HttpServer.ExchangeListener listener = this::record;
    var firstHook = server.onExchangeEnd(listener);
    var secondHook = server.onExchangeEnd(listener);
    call("GET", "/busy");
    Patience.eventually(() -> ended.size() == 2);

    firstHook.close();
    firstHook.close();
    call("GET", "/broken");
    Patience.eventually(() -> ended.size() == 3);
    secondHook.close();
    call("GET", "/moved");
    Patience.eventually(() -> statsOf("/moved").answered() == 1);

    assertEquals(List.of("/busy 503", "/busy 503", "/broken 500"), ended);
  }

  @Promise("27.31")
  @Test
  void failingListenerAffectsNeitherExchangeNorOtherListener() {
    openServer();
    server.onExchangeEnd(exchange -> {
      throw new IllegalStateException("planned");
    });
    server.onExchangeEnd(this::record);
    try (var logged = new Logged()) {
      assertEquals("200 order", call("GET", "/orders/1"));
      Patience.eventually(() -> ended.size() == 1);

      assertTrue(logged.text().contains("a listener for exchanges failed"), logged.text());
    }
    Patience.eventually(() -> log.size() == 1);
  }
}
