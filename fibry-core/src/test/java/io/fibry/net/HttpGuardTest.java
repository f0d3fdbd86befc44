package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that an HTTP server withstands mistakes of handlers and attacks of clients. */
class HttpGuardTest {
  private static final String HOST = "Host: a\r\n";
  private static final Duration NEVER = Duration.ofDays(10_000);
  private static final Duration BODY_LIMIT = Duration.ofSeconds(5);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("guard", o -> o.withScheduler(clock));
  private HttpServer server;

  private void open(UnaryOperator<HttpRoutes> routes, UnaryOperator<HttpOptions> options) {
    server = HttpServer.open(scope.anonymous(), 0, routes.apply(HttpRoutes.none()), options);
  }

  private String talk(String request) throws IOException {
    return RawClient.sendAndReadAll(server.port(), request);
  }

  private String code(String request) throws IOException {
    return RawClient.codes(talk(request));
  }

  @AfterEach
  void close() {
    Gate.openAll();
    if (server != null) server.kill();
    scope.close();
  }

  // ---- one response per exchange

  @Promise("27.3")
  @Test
  void interceptorMayCallNextOnlyOnce() throws IOException {
    open(routes -> routes.text("/", exchange -> "x").intercept((exchange, next) -> {
      next.run();
      next.run();
    }), o -> o);
    try (var logged = new Logged(); var client = new RawClient(server.port())) {
      var responses = client.send("GET / HTTP/1.1\r\n" + HOST + "\r\n" + RawClient.get("/")).readToEnd();

      // one response for each request, because a client counts the responses
      assertEquals("500 500", RawClient.codes(responses));
      assertTrue(logged.text().contains("code around '/' called next twice"), logged::text);
    }
  }

  @Promise("27.21")
  @Test
  void clientGetsErrorResponseIfHandlerFailsBeforeOutputIsSent() throws IOException {
    open(routes -> routes.stream("/rule", exchange -> {
      exchange.outputStream().write('x');
      throw new IllegalStateException("no");
    }).stream("/thrown", exchange -> {
      exchange.outputStream();
      throw new HttpException(409, "twice");
    }).onFailure(IllegalStateException.class, 422), o -> o);

    var mapped = talk(RawClient.get("/rule"));
    var thrown = talk(RawClient.get("/thrown"));

    assertTrue(mapped.startsWith("HTTP/1.1 422 ") && mapped.endsWith("422 Unprocessable Content\n"), mapped);
    assertTrue(thrown.startsWith("HTTP/1.1 409 ") && thrown.endsWith("twice\n"), thrown);
  }

  @ParameterizedTest
  @CsvSource({"'close, keep-alive'", "'keep-alive, close'"})
  void connectionClosesIfRequestHasCloseAndKeepAlive(String connection) throws IOException {
    open(routes -> routes.text("/", exchange -> "x"), o -> o);
    try (var client = new RawClient(server.port())) {
      var responses = client.send("GET / HTTP/1.0\r\nConnection: " + connection + "\r\n\r\n").readToEnd();

      assertEquals("200", RawClient.codes(responses));
    }
  }

  @Test
  void optionsRequestForAsteriskListsMethodsOfAllRoutes() throws IOException {
    open(routes -> routes.text("GET /", exchange -> "x").text("POST /a", exchange -> "x")
        .text("/{rest...}", exchange -> "x"), o -> o);

    var response = talk("OPTIONS * HTTP/1.1\r\n" + HOST + "Connection: close\r\n\r\n");

    assertTrue(response.startsWith("HTTP/1.1 204 ") && response.contains("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n"),
        response);
  }

  // ---- bodies

  /**
   * The server admits twice {@code maxExchanges}, because an exchange that waits for its body does
   * not count against the exchanges that may work.
   */
  @Promise("27.4")
  @Test
  void exchangesWaitingForBodiesAreLimitedToTwiceMaxExchanges() throws Exception {
    var handlers = new CopyOnWriteArrayList<Thread>();
    var workingCount = new AtomicInteger();
    var maxWorking = new AtomicInteger();
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      handlers.add(Thread.currentThread());
      var text = exchange.bodyAsText();
      maxWorking.accumulateAndGet(workingCount.incrementAndGet(), Math::max);
      gate.passUninterruptibly();
      workingCount.decrementAndGet();
      return text;
    }), o -> o.withMaxExchanges(3));
    var clients = new ArrayList<RawClient>();
    try {
      for (int admittedCount = 0, refusals = 0; refusals < 20; admittedCount = handlers.size()) {
        var client = new RawClient(server.port());
        client.send("POST / HTTP/1.1\r\n" + HOST + "Connection: close\r\nContent-Length: 4\r\n\r\nha");
        int admittedBefore = admittedCount;
        var response = admittedCount < 6 ? null : client.readToEndLater();
        if (admittedCount >= 6 && Patience.value(response).startsWith("HTTP/1.1 503 ")) refusals++;
        else Patience.eventually(
            () -> handlers.size() > admittedBefore && ServerScope.isWaitingForClient(handlers.getLast()));
        clients.add(client);
      }
      assertEquals(6, handlers.size());

      for (var client : clients.subList(0, 6)) client.send("lf");
      Patience.eventually(() -> workingCount.get() == 3);
      gate.open();
      for (var client : clients.subList(0, 6)) assertTrue(client.readToEnd().endsWith("half"));
      assertEquals(3, maxWorking.get());
    } finally {
      for (var client : clients) client.close();
    }
  }

  @Promise("27.39")
  @Test
  void probeGetsResponseWhileServerIsFull() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      gate.passUninterruptibly();
      return "x";
    }).mount("/in", HttpRoutes.none().probe("/health", HttpExchange::bodyAsText)), o -> o.withMaxExchanges(1));
    try (var busyClient = new RawClient(server.port())) {
      var response = busyClient.send(RawClient.get("/")).readToEndLater();
      Patience.await(gate.entered);

      assertEquals("503", code(RawClient.get("/")));
      for (int i = 0; i < 5; i++) // a probe takes no permit, whether or not it waits for its client
        assertTrue(talk("POST /in/health HTTP/1.1\r\n" + HOST + "Connection: close\r\nContent-Length: 2\r\n\r\nup")
            .endsWith("\r\n\r\nup"));
      assertEquals("503", code(RawClient.get("/")));
      var load = server.load();
      assertEquals("1 0 1 true", load.working() + " " + load.waiting() + " " + load.maxExchanges() + " "
          + (load.connections() >= 1));
      gate.open();
      assertEquals("200", RawClient.codes(Patience.value(response)));
      assertEquals("200", code(RawClient.get("/")));
    }
  }

  /**
   * The body exceeds the socket buffers, so the client is still sending while the handler works.
   */
  @Promise("25.3")
  @Test
  void bodyLimitExcludesTimeInWhichHandlerDoesNotRead() throws Exception {
    var body = "x".repeat(8_000_000);
    open(routes -> routes.text("POST /", exchange -> {
      int first = exchange.body().read();
      for (int i = 0; i < 20; i++) clock.advance(BODY_LIMIT.dividedBy(4)); // the handler works
      return "" + (first + exchange.body().readAllBytes().length);
    }), o -> o.withBodyLimit(BODY_LIMIT).withMaxBody(body.length()));

    var response =
        talk(
            "POST / HTTP/1.1\r\n" + HOST + "Connection: close\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);

    assertTrue(response.endsWith("" + ('x' + body.length() - 1)), () -> "response: " + response + scope.dump());
  }

  @Promise("27.22")
  @Test
  void formWithMoreThanMaxFieldsGets413() throws IOException {
    open(routes -> routes.text("POST /", exchange -> "" + exchange.form().size()), o -> o.withMaxFields(3));

    assertTrue(form("a=1&b=2&c=3").endsWith("\r\n\r\n3"));
    assertTrue(form("a=1&b=2&c=3&d=4").endsWith("413 Content Too Large: a form of more than 3 fields\n"));
    assertTrue(form("a&a&a&a&a").startsWith("HTTP/1.1 413 "));
    assertTrue(form("&&&&&").startsWith("HTTP/1.1 413 "));
  }

  private String form(String body) throws IOException {
    return talk(
        "POST / HTTP/1.1\r\n" + HOST + "Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + "Content-Length: " + body.length() + "\r\n\r\n" + body);
  }

  // ---- names of hosts

  @Promise("27.22")
  @ParameterizedTest
  @CsvSource({"shop.example, 200", "SHOP.example:8080, 200", "[::1]:80, 200", "[0:0::0:1], 200", "[::2], 421",
    "evil.example, 421", "shop.example.evil.example, 421", "localhost, 421"})
  void onlyConfiguredHostsAreServed(String host, String code) throws IOException {
    open(routes -> routes.text("/", exchange -> "x"), o -> o.withHosts("Shop.example", "[0::1]"));

    assertEquals(code, code("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"));
  }

  @Promise("27.22")
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "HTTP/1.0 | no Host header; this server requires it | no Host header",
    "HTTP/1.1;Host: 10.0.0.3:8443 | a Host header of another server | the Host header '10.0.0.3:8443'"})
  void refusalOfHostNamesOptionInLogOnly(String head, String reason, String logText) throws IOException {
    server = HttpServer.open(scope.named("hosts"), 0, HttpRoutes.none().text("/", exchange -> "x"),
        o -> o.withHosts("shop.example"));
    try (var logged = new Logged()) {
      var response = talk("GET / " + head.replace(";", "\r\n") + "\r\n\r\n");
      talk("GET / HTTP/1.0\r\n\r\n");

      assertTrue(response.startsWith("HTTP/1.1 421 ")
          && response.endsWith("\r\n\r\n421 Misdirected Request: " + reason + "\n"), response);
      var lines = logged.lines("refused with 421").stream().filter(line -> line.contains("hosts")).toList();
      assertEquals(1, lines.size(), lines::toString);
      assertTrue(lines.getFirst().contains("1 request refused with 421") && lines.getFirst().contains(logText),
          lines::toString);
    }
  }

  @Promise("27.22")
  @ParameterizedTest
  @CsvSource({"GET /health HTTP/1.1;Host: 10.0.0.3:8443, 200", "HEAD /health HTTP/1.1;Host: evil.example, 200",
    "GET /health HTTP/1.0, 200", "POST /health HTTP/1.1;Host: 10.0.0.3, 421", "GET /in/live HTTP/1.1;Host: [::2], 200",
    "GET /health/x HTTP/1.1;Host: 10.0.0.3, 421", "GET / HTTP/1.1;Host: 10.0.0.3, 421"})
  void probeIsServedWithAnyHost(String head, String code) throws IOException {
    open(routes -> routes.text("/", exchange -> "x").probe("GET /health", exchange -> "up")
        .mount("/in", HttpRoutes.none().probe("/live", exchange -> "up")), o -> o.withHosts("shop.example"));

    assertEquals(code, code(head.replace(";", "\r\n") + "\r\nConnection: close\r\n\r\n"));
  }

  @Test
  void invalidHostNamesAreRefused() {
    for (var invalid : List.of("", "http://shop.example", "shop.example:80", "a b", "a\nb"))
      assertTrue(assertThrows(IllegalArgumentException.class, () -> open(routes -> routes, o -> o.withHosts(invalid)))
          .getMessage().contains("is not the name of a host; give names without scheme and port"), invalid);
    assertThrows(IllegalArgumentException.class, () -> open(routes -> routes, HttpOptions::withHosts));
    assertThrows(IllegalArgumentException.class, () -> open(routes -> routes, o -> o.withMaxFields(0)));
  }

  // ---- the end of the server

  @Promise("27.8")
  @Test
  void unfinishedRequestHeadsDoNotDelayEndOfServer() throws Exception {
    open(routes -> routes.text("/", exchange -> "x"),
        o -> o.withHeaderLimit(NEVER).withDrainLimit(NEVER));
    var clients = new ArrayList<RawClient>();
    try {
      for (int i = 0; i < 50; i++) clients.add(new RawClient(server.port()).send("GET / HTTP/1.1\r\nHos"));
      var exit = server.onExit();
      server.sendPoisonPill();

      Patience.eventually(() -> { // each limit check also closes connections whose heads have begun after the pill
        clock.advance(Duration.ofSeconds(1));
        return exit.isDone();
      });
      assertTrue(clock.nanoTime() < NEVER.toNanos()); // neither the header limit nor the drain limit has expired
    } finally {
      for (var client : clients) client.close();
    }
  }
}
