package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mistakes of handlers and tricks of clients that an HTTP server does not fall for. */
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
    return RawClient.talk(server.port(), request);
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

  // ---- one answer

  @Promise("27.3")
  @Test
  void codeAroundARouteGoesOnOnce() throws IOException {
    open(routes -> routes.text("/", exchange -> "x").intercept((exchange, next) -> {
      next.run();
      next.run();
    }), o -> o);
    try (var logged = new Logged(); var client = new RawClient(server.port())) {
      var all = client.send("GET / HTTP/1.1\r\n" + HOST + "\r\nGET / HTTP/1.1\r\n" + HOST + "\r\n").all();

      assertEquals("200", RawClient.codes(all)); // the second request would have taken the second answer
      assertTrue(logged.text().contains("code around '/' called next twice"), logged::text);
    }
  }

  @Promise("27.21")
  @Test
  void failureAfterUnsentOutputStillGetsErrorResponse() throws IOException {
    open(routes -> routes.stream("/rule", exchange -> {
      exchange.outputStream().write('x');
      throw new IllegalStateException("no");
    }).stream("/told", exchange -> {
      exchange.outputStream();
      throw new HttpException(409, "twice");
    }).onFailure(IllegalStateException.class, 422), o -> o);

    var byRule = talk(RawClient.get("/rule"));
    var told = talk(RawClient.get("/told"));

    assertTrue(byRule.startsWith("HTTP/1.1 422 ") && byRule.endsWith("422 Unprocessable Content\n"), byRule);
    assertTrue(told.startsWith("HTTP/1.1 409 ") && told.endsWith("twice\n"), told);
  }

  @ParameterizedTest
  @CsvSource({"'close, keep-alive'", "'keep-alive, close'"})
  void closeWinsOverKeepAlive(String connection) throws IOException {
    open(routes -> routes.text("/", exchange -> "x"), o -> o);
    try (var client = new RawClient(server.port())) {
      var all = client.send("GET / HTTP/1.0\r\nConnection: " + connection + "\r\n\r\n").all(); // or no end comes

      assertEquals("200", RawClient.codes(all));
    }
  }

  @Test
  void theServerAsAWholeHasOptions() throws IOException {
    open(routes -> routes.text("GET /", exchange -> "x").text("POST /a", exchange -> "x")
        .text("/{rest...}", exchange -> "x"), o -> o);

    var answer = talk("OPTIONS * HTTP/1.1\r\n" + HOST + "Connection: close\r\n\r\n");

    assertTrue(answer.startsWith("HTTP/1.1 204 ") && answer.contains("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n"),
        answer);
  }

  // ---- bodies

  /** Twice as many exchanges begin as may run; the others wait for their bodies. */
  @Promise("27.4")
  @Test
  void bodiesThatComeSlowlyHaveABound() throws Exception {
    var begun = new AtomicInteger();
    var atWork = new AtomicInteger();
    var most = new AtomicInteger();
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      begun.incrementAndGet();
      var text = exchange.bodyAsText();
      most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
      gate.passDeaf();
      atWork.decrementAndGet();
      return text;
    }), o -> o.withMaxExchanges(3));
    var clients = new ArrayList<RawClient>();
    try {
      for (int taken = 0, refused = 0; refused < 20; taken = begun.get()) {
        var client = new RawClient(server.port());
        client.send("POST / HTTP/1.1\r\n" + HOST + "Connection: close\r\nContent-Length: 4\r\n\r\nha");
        int before = taken;
        var answer = taken < 6 ? null : client.allLater();
        if (taken >= 6 && Patience.value(answer).startsWith("HTTP/1.1 503 ")) refused++;
        else Patience.eventually(() -> begun.get() > before);
        clients.add(client);
      }
      assertEquals(6, begun.get());

      for (var client : clients.subList(0, 6)) client.send("lf");
      Patience.eventually(() -> atWork.get() == 3);
      gate.open();
      for (var client : clients.subList(0, 6)) assertTrue(client.all().endsWith("half"));
      assertEquals(3, most.get());
    } finally {
      for (var client : clients) client.close();
    }
  }

  /** More than the socket holds, so the rest is with the client while the handler works. */
  @Promise("25.3")
  @Test
  void handlerTimeDoesNotCountAgainstClient() throws Exception {
    var body = "x".repeat(8_000_000);
    open(routes -> routes.text("POST /", exchange -> {
      int first = exchange.body().read();
      for (int i = 0; i < 20; i++) clock.advance(BODY_LIMIT.dividedBy(4)); // works
      return "" + (first + exchange.body().readAllBytes().length);
    }), o -> o.withBodyLimit(BODY_LIMIT).withMaxBody(body.length()));

    var answer =
        talk(
            "POST / HTTP/1.1\r\n" + HOST + "Connection: close\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);

    assertTrue(answer.endsWith("" + ('x' + body.length() - 1)), () -> "answer: " + answer + scope.dump());
  }

  @Promise("27.22")
  @Test
  void aFormHasAsManyFieldsAsAllowed() throws IOException {
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

  // ---- names

  @Promise("27.22")
  @ParameterizedTest
  @CsvSource({"shop.example, 200", "SHOP.example:8080, 200", "[::1]:80, 200", "evil.example, 421",
    "shop.example.evil.example, 421", "localhost, 421"})
  void onlyHostsThatWereNamedAreServed(String host, String code) throws IOException {
    open(routes -> routes.text("/", exchange -> "x"), o -> o.withHosts("Shop.example", "[::1]"));

    assertEquals(code, code("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"));
  }

  @Test
  void aServerWithNamesNeedsOne() throws IOException {
    open(routes -> routes.text("/", exchange -> "x"), o -> o.withHosts("shop.example"));

    assertTrue(talk("GET / HTTP/1.0\r\n\r\n").startsWith("HTTP/1.1 421 "));
  }

  @Test
  void namesOfHostsAreChecked() {
    for (var bad : List.of("", "http://shop.example", "shop.example:80", "a b", "a\nb"))
      assertTrue(assertThrows(IllegalArgumentException.class, () -> open(routes -> routes, o -> o.withHosts(bad)))
          .getMessage().contains("is no name of a host; give names without scheme and port"), bad);
    assertThrows(IllegalArgumentException.class, () -> open(routes -> routes, HttpOptions::withHosts));
    assertThrows(IllegalArgumentException.class, () -> open(routes -> routes, o -> o.withMaxFields(0)));
  }

  // ---- the end

  @Promise("27.8")
  @Test
  void halfSentHeadsDoNotDelayTheEnd() throws Exception {
    open(routes -> routes.text("/", exchange -> "x"),
        o -> o.withHeaderLimit(NEVER).withDrainLimit(NEVER));
    var clients = new ArrayList<RawClient>();
    try {
      for (int i = 0; i < 50; i++) clients.add(new RawClient(server.port()).send("GET / HTTP/1.1\r\nHos"));
      var ended = server.onExit();
      server.sendPoisonPill();

      Patience.eventually(() -> { // a head may be begun after the end has come, and is found by the next check
        clock.advance(Duration.ofSeconds(1));
        return ended.isDone();
      });
      assertTrue(clock.nanoTime() < NEVER.toNanos()); // neither limit has passed
    } finally {
      for (var client : clients) client.close();
    }
  }
}
