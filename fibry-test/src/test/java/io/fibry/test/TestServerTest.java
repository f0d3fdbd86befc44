package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.support.Patience;
import io.fibry.test.TestServer.TestRequest;
import java.io.EOFException;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the server without a port, and its client. */
class TestServerTest {
  private static final HttpRoutes ROUTES = HttpRoutes.none()
      .text("GET /hello", exchange -> "Hello " + exchange.queryParameter("name").orElse("World"))
      .text("POST /echo", exchange -> {
        exchange.status(201).header("X-Type", exchange.header("Content-Type").orElse("none"));
        return exchange.bodyAsText();
      }).stream("GET /stream", exchange -> {
        for (int i = 0; i < 10_000; i++) exchange.outputStream().write(("line " + i + "\n").getBytes());
      }).stream("GET /broken", exchange -> {
        exchange.outputStream().write("half".getBytes(StandardCharsets.UTF_8));
        exchange.outputStream().flush();
        throw new IllegalStateException("planned");
      }).text("GET /none", exchange -> {
        throw new HttpException(404, "no such page");
      });

  @Test
  void clientGetsStatusHeadersAndBody() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, ROUTES)) {
      var echo = web.send(TestRequest.of("POST /echo").header("Content-Type", "text/x-tea").body("\u00e4 tea"));

      assertEquals("200 Hello Ada", web.get("/hello?name=Ada").toString());
      assertEquals("201 \u00e4 tea", echo.toString());
      assertEquals(Optional.of("text/x-tea"), echo.header("x-TYPE"));
      assertEquals(404, web.get("/none").status());
      assertEquals(405, web.send(TestRequest.of("PUT /echo")).status());
      assertEquals("200 ", web.send(TestRequest.of("HEAD /hello")).toString());
      assertEquals(2, web.server().stats().stream().filter(stats -> stats.route().equals("GET /hello"))
          .mapToLong(stats -> stats.answered()).sum());
    }
  }

  @Test
  void logsShowThatServerHasNoPort() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, ROUTES)) {
      var text = web.server().toString();

      assertTrue(text.startsWith("HTTP server '") && text.endsWith("' on no port (test server)"), text);
    }
  }

  @Test
  void chunksOfStreamAreJoined() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, ROUTES)) {
      var lines = web.get("/stream").text().lines().toList();

      assertEquals(10_000, lines.size());
      assertEquals("line 9999", lines.getLast());
    }
  }

  @Test
  void requestFailsIfResponseIsIncomplete() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, ROUTES)) {
      var failure = Patience.failure(web.sendLater(TestRequest.of("GET /broken")));

      assertTrue(failure instanceof EOFException || failure instanceof SocketException, failure.toString());
      assertThrows(AssertionError.class, () -> web.get("/broken"));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void timeLimitsFollowTestClock(boolean isLimited) {
    try (var scope = TestScope.fibers()) {
      var routes = HttpRoutes.none().text("GET /later", exchange -> {
        scope.clock().sleepUntil(Duration.ofMinutes(10).toNanos());
        return "at last";
      });
      try (var web = TestServer.open(scope, isLimited ? routes.withTimeLimit(Duration.ofMinutes(1)) : routes)) {
        var response = web.sendLater(TestRequest.of("GET /later"));
        scope.advance(Duration.ofMinutes(9));
        assertEquals(isLimited, response.isDone());
        scope.advance(Duration.ofMinutes(1));

        assertEquals(isLimited ? 504 : 200, Patience.value(response).status());
      }
    }
  }

  @Test
  void failureWithoutResponseNamesRequest() {
    try (var scope = TestScope.fibers()) {
      var web = TestServer.open(scope, HttpRoutes.none().text("GET /later", exchange -> {
        scope.clock().sleepUntil(Duration.ofMinutes(1).toNanos());
        return "at last";
      }));
      scope.limit = Duration.ofMillis(1);
      var failure = assertThrows(AssertionError.class, () -> web.get("/later"));
      scope.limit = TestScope.LIMIT;
      scope.advance(Duration.ofMinutes(1));

      assertTrue(failure.getMessage().contains("GET /later"), failure.getMessage());
    }
  }

  @Test
  void hundredClientsGetTheirOwnResponses() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, ROUTES)) {
      var responses =
          IntStream.range(0, 100).mapToObj(i -> web.sendLater(TestRequest.of("GET /hello?name=" + i))).toList();

      for (int i = 0; i < 100; i++) assertEquals("200 Hello " + i, Patience.value(responses.get(i)).toString());
      scope.assertQuiet();
    }
  }

  @Test
  void responseIsDoneWhenScopeIsQuiet() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, ROUTES)) {
      for (int round = 0; round < 1_000; round++) {
        var response = web.sendLater(TestRequest.of("GET /hello"));
        scope.assertQuiet();

        assertTrue(response.isDone(), "in round " + round);
      }
    }
  }

  @Test
  void scopeWithOpenConnectionIsQuietOnlyAfterItsRequest() throws Exception {
    var handled = new AtomicInteger();
    var routes = HttpRoutes.none().text("/count", exchange -> "" + handled.incrementAndGet());
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes)) {
      var connection = web.sockets.connect();
      try (var client = connection.socket()) {
        for (int request = 1; request <= 1_000; request++) {
          client.getOutputStream().write("GET /count HTTP/1.1\r\nHost: a\r\n\r\n".getBytes());
          if (request == 1) assertTrue(connection.toServer().awaitFirstRead(Patience.LONG));
          scope.assertQuiet();

          assertEquals(request, handled.get());
          client.getInputStream().skipNBytes(client.getInputStream().available());
        }
      }
    }
  }

  @Test
  void scopeIsQuietOnlyAfterWebSocketHandlerLearnsOfDisconnect() throws Exception {
    var ended = new AtomicInteger();
    var routes = HttpRoutes.none().webSocket("/chat", connection -> {
      try {
        for (var text : connection.texts()) fail(text);
      } finally {
        ended.incrementAndGet();
      }
    });
    var handshake = ("GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").getBytes();
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes)) {
      for (int round = 1; round <= 300; round++) {
        var connection = web.sockets.connect();
        try (var client = connection.socket()) {
          client.getOutputStream().write(handshake);
          assertTrue(connection.toServer().awaitFirstRead(Patience.LONG));
          scope.assertQuiet();
          assertEquals(round - 1, ended.get());
        }
        scope.assertQuiet();

        assertEquals(round, ended.get());
      }
    }
  }

  @Test
  void clockAdvancesBesideOpenWebSocket() {
    try (var scope = TestScope.fibers(); var client = HttpClient.newHttpClient()) {
      var received = new LinkedBlockingQueue<String>();
      var server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().webSocket("/chat", connection -> {
        for (var text : connection.texts()) connection.textActor().sendMessageLater(text, Duration.ofSeconds(1));
      }), options -> options);
      var socket = Patience.value(client.newWebSocketBuilder()
          .buildAsync(URI.create("ws://localhost:" + server.port() + "/chat"), new WebSocket.Listener() {
            @Override
            public CompletionStage<?> onText(WebSocket webSocket, CharSequence text, boolean isLast) {
              received.add(text.toString());
              webSocket.request(1);
              return null;
            }
          }));
      scope.assertQuiet();
      Patience.value(socket.sendText("hello", true));
      Patience.eventually(() -> scope.clock().untilNext().filter(Duration.ofSeconds(1)::equals).isPresent());

      scope.advance(Duration.ofSeconds(1));

      assertEquals("hello", Patience.nextOf(received));
      socket.abort();
    }
  }

  @Test
  void requestAfterCloseFails() {
    try (var scope = TestScope.fibers()) {
      var web = TestServer.open(scope, ROUTES);
      web.close();
      scope.limit = Duration.ofMillis(1);

      assertThrows(AssertionError.class, () -> web.get("/hello"));
      scope.limit = TestScope.LIMIT; // the close of the scope has this limit, too
    }
  }

  @Test
  void malformedMethodAndPathAreRefused() {
    for (var text : new String[] {"", "/hello", "GET", "GET hello"})
      assertInstanceOf(IllegalArgumentException.class,
          assertThrows(RuntimeException.class, () -> TestRequest.of(text)), text);
  }
}
