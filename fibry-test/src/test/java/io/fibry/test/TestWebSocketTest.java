package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.AccessLogEntry;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.WebSocketClose;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.WebSocketMessage;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.test.TestServer.TestRequest;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests WebSockets without a port, and their client. */
class TestWebSocketTest {
  private static final WebSocketClose DISCONNECTED = new WebSocketClose(1006, "");

  // written by handlers, when their conversation is over
  private final LinkedBlockingQueue<String> conversationEnds = new LinkedBlockingQueue<>();

  private void echo(WebSocketConnection connection) {
    try {
      for (var message : connection.messages()) switch (message) {
        case WebSocketMessage.Text text when text.text().startsWith("close ") -> connection
            .close(Integer.parseInt(text.text().substring(6)), "as you wish");
        case WebSocketMessage.Text text when text.text().equals("fail") -> throw new IllegalStateException("planned");
        case WebSocketMessage.Text text -> connection.textActor().sendMessage(text.text());
        case WebSocketMessage.Binary binary -> connection.binaryActor().sendMessage(binary.data());
      }
      conversationEnds.add(connection.peerClose().map(WebSocketClose::toString).orElse("none"));
    } catch (UncheckedIOException failure) {
      conversationEnds.add("failed");
      throw failure;
    }
  }

  private HttpRoutes routes() {
    return HttpRoutes.none().webSocket("/echo/{name}", this::echo).webSocket("/limited", this::echo,
        o -> o.withMaxMessage(10).withIdleLimit(Duration.ofMinutes(1)).withMaxUnsent(100_000).withSubprotocols("v2",
            "v1"));
  }

  @Promise("30.2")
  @Test
  void clientGetsTextsAndBytesInOrder() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      var bytes = new byte[100_000];
      bytes[99_999] = 7;
      socket.send("h\u00e9llo \ud83d\ude00");
      socket.send(bytes);
      socket.send("");
      socket.send("x".repeat(1_000));

      assertEquals(new WebSocketMessage.Text("h\u00e9llo \ud83d\ude00"), socket.receive());
      assertArrayEquals(bytes, socket.receiveBytes());
      assertEquals("", socket.receiveText());
      assertEquals(1_000, socket.receiveText().length());
      socket.expectNothing();
      assertEquals(101, socket.response().status());
    }
  }

  @Promise("30.2")
  @Test
  void messageReachesAllOtherClients() {
    var clients = new CopyOnWriteArrayList<WebSocketConnection>();
    try (var scope = TestScope.fibers()) {
      var room = scope.named("room").newActor((String text) -> {
        for (var client : clients) client.textActor().sendMessage(text);
      });
      var web = TestServer.open(scope, HttpRoutes.none().webSocket("/chat/{name}", connection -> {
        clients.add(connection);
        for (var text : connection.texts()) room.sendMessage(connection.path("name") + ": " + text);
        clients.remove(connection);
      }));
      var ann = web.webSocket("/chat/ann");
      var bob = web.webSocket("/chat/bob");
      scope.assertQuiet(); // both are in the room

      ann.send("hi");
      assertEquals("ann: hi", ann.receiveText());
      assertEquals("ann: hi", bob.receiveText());
      bob.close();
      scope.assertQuiet();
      ann.send("alone");

      assertEquals("ann: alone", ann.receiveText());
      bob.expectNothing();
    }
  }

  @Promise("30.2")
  @Test
  void clientHasEchoWhenScopeIsQuiet() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      for (int round = 0; round < 500; round++) {
        socket.send("round " + round);
        scope.assertQuiet();
        scope.limit = Duration.ofNanos(1); // the message must have come

        assertEquals("round " + round, socket.receiveText());
        scope.limit = TestScope.LIMIT;
      }
    }
  }

  // ---- the handshake

  @Promise("30.1")
  @Test
  void serverRefusesUpgradeByItsOwnRules() {
    var routes = routes().intercept((exchange, next) -> {
      if (exchange.header("Authorization").isEmpty()) throw new HttpException(401, "log in first");
      exchange.header("X-Room", "blue");
      next.run();
    });
    var request = TestRequest.of("GET /limited").header("Authorization", "ann");
    try (var scope = TestScope.fibers();
        var web = TestServer.open(scope, routes, o -> o.withHosts("localhost"))) {
      var refusal = web.webSocketRefusal("/limited");
      var socket = web.webSocket(request.header("Sec-WebSocket-Protocol", "v1, v2"));

      assertEquals("401 log in first\n", refusal.toString());
      assertEquals(403, web.webSocketRefusal(request.header("Origin", "https://evil.example")).status());
      assertEquals(421, web.webSocketRefusal(request.header("Host", "evil.example")).status());
      assertEquals(426, web.webSocketRefusal(request.header("Sec-WebSocket-Version", "8")).status());
      assertEquals(404, web.webSocketRefusal("/none").status());
      assertEquals(Optional.of("v1"), socket.response().header("Sec-WebSocket-Protocol"));
      assertEquals(Optional.of("blue"), socket.response().header("X-Room"));
      web.webSocket(request.header("Origin", "http://localhost")).close();
    }
  }

  @Test
  void openingFailsWithResponseOfRefusal() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var failure = assertThrows(AssertionError.class, () -> web.webSocket("/none"));

      assertTrue(failure.getMessage().startsWith("GET /none did not open a WebSocket; the response: 404 404 Not Found"),
          failure.getMessage());
    }
  }

  @Test
  void expectedRefusalFailsIfServerAccepts() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var failure = assertThrows(AssertionError.class, () -> web.webSocketRefusal("/echo/ann"));
      scope.assertQuiet();

      assertEquals("GET /echo/ann opened a WebSocket, but the test expects a refusal", failure.getMessage());
      assertEquals(List.of("failed"), List.copyOf(conversationEnds)); // the client has disconnected
    }
  }

  @Promise("30.1")
  @Test
  void conversationIsInAccessLogAndStatistics() {
    var entries = new CopyOnWriteArrayList<AccessLogEntry>();
    try (var scope = TestScope.fibers();
        var web = TestServer.open(scope, routes(), o -> o.withAccessLog(entries::add))) {
      web.webSocket("/echo/ann").close();
      scope.assertQuiet();

      assertEquals(List.of(101), entries.stream().map(AccessLogEntry::status).toList());
      assertEquals(1, web.server().stats().stream().filter(stats -> stats.route().equals("/echo/{name}"))
          .mapToLong(stats -> stats.answered()).sum());
    }
  }

  // ---- the end

  @Promise("30.3")
  @Test
  void clientCloses() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      socket.send("last");
      socket.close(4_001, "bye");

      assertEquals(new WebSocketClose(4_001, ""), socket.awaitClose());
      assertEquals("last", socket.receiveText());
      scope.assertQuiet();
      assertEquals(List.of(new WebSocketClose(4_001, "bye").toString()), List.copyOf(conversationEnds));
      assertThrows(IllegalStateException.class, () -> socket.send("late"));
      assertThrows(IllegalArgumentException.class, () -> socket.close(4_000, "x".repeat(124)));
    }
  }

  @Promise("30.3")
  @Test
  void serverCloses() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      socket.send("first");
      socket.send("close 4002");

      assertEquals(new WebSocketClose(4_002, "as you wish"), socket.awaitClose());
      assertEquals("first", socket.receiveText());
      var failure = assertThrows(AssertionError.class, socket::receive);
      assertTrue(failure.getMessage()
          .startsWith("WebSocket /echo/ann wanted a message, but it was closed with 4002 'as you wish'"),
          failure.getMessage());
    }
  }

  @Promise("30.3")
  @Test
  void failedHandlerClosesWith1011() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      socket.send("fail");

      assertEquals(1011, socket.awaitClose().code());
    }
  }

  @Promise("30.3")
  @Test
  void tooLongMessageClosesWith1009() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/limited");
      socket.send("0123456789");
      socket.send("0123456789a");

      assertEquals(new WebSocketClose(1009, "a message longer than 10 bytes"), socket.awaitClose());
      assertEquals("0123456789", socket.receiveText());
      scope.assertQuiet();
    }
  }

  @Promise("30.3")
  @Test
  void handlerLearnsOfDisconnect() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      socket.disconnect();
      scope.assertQuiet();

      assertEquals(List.of("failed"), List.copyOf(conversationEnds));
      assertEquals(DISCONNECTED, socket.awaitClose());
    }
  }

  @Promise("30.3")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void endOfServerClosesAllWebSocketsWith1001(boolean isScopeClosed) {
    var sockets = new ArrayList<TestWebSocket>();
    try (var scope = TestScope.fibers()) {
      var web = TestServer.open(scope, routes());
      for (int i = 0; i < 5; i++) sockets.add(web.webSocket("/echo/" + i));
      scope.assertQuiet();
      if (!isScopeClosed) web.close();
    }

    for (var socket : sockets) assertEquals(new WebSocketClose(1001, ""), socket.awaitClose());
    assertEquals(5, conversationEnds.size());
  }

  @Promise("30.3")
  @Test
  void textOfQuietServerArrivesBefore1001() {
    List<TestWebSocket> sockets;
    try (var scope = TestScope.fibers()) {
      Topic<String> room = Topic.open(scope.named("room"));
      var web = TestServer.open(scope, HttpRoutes.none().webSocket("/room", connection -> {
        room.subscribe(connection.textActor());
        for (var text : connection.texts()) room.publish(text);
      }));
      sockets = Stream.generate(() -> web.webSocket("/room")).limit(20).toList();
      scope.assertQuiet();
      room.publish("good bye");
      scope.assertQuiet();
    }
    for (var socket : sockets) {
      assertEquals("good bye", socket.receiveText());
      assertEquals(1001, socket.awaitClose().code());
    }
  }

  // ---- virtual time, slow clients

  @Promise("30.4")
  @Test
  void clientThatRepliesToPingsStaysConnected() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/limited");
      scope.advance(Duration.ofHours(3));

      socket.send("here");
      assertEquals("here", socket.receiveText());
    }
  }

  @Promise("30.4")
  @Test
  void pausedClientIsCutOffAfterIdleLimit() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/limited");
      scope.assertQuiet(); // the handler reads
      socket.pauseReading();
      scope.advance(Duration.ofSeconds(60).minusMillis(1));
      assertEquals(List.of(), List.copyOf(conversationEnds));
      scope.advance(Duration.ofMillis(1));

      assertEquals(List.of("failed"), List.copyOf(conversationEnds));
      socket.resumeReading();
      assertEquals(DISCONNECTED, socket.awaitClose());
    }
  }

  @Promise("30.4")
  @Test
  void slowClientIsCutOffWith1008() {
    var connections = new LinkedBlockingQueue<WebSocketConnection>();
    var routes = HttpRoutes.none().webSocket("/news", connection -> {
      connections.add(connection);
      echo(connection);
    }, o -> o.withMaxUnsent(100_000));
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes)) {
      var socket = web.webSocket("/news");
      scope.assertQuiet();
      var news = connections.remove();
      socket.pauseReading();
      news.textActor().sendMessage("x".repeat(60_000));
      scope.assertQuiet(); // written into the buffer of the connection
      while (news.textActor().sendMessage("y".repeat(30_000))) assertTrue(news.unsentBytes() < 150_000);
      socket.resumeReading();

      assertEquals(1008, socket.awaitClose().code());
      assertEquals(60_000, socket.receiveText().length());
    }
  }

  @Promise("30.4")
  @Test
  void scopeIsNotQuietWhileWriteWaitsForPausedClient() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      scope.assertQuiet();
      socket.pauseReading();
      socket.send("one");
      scope.assertQuiet(); // the reply is in the buffer of the connection
      scope.advance(Duration.ofSeconds(1));
      for (int i = 0; i < 100; i++) socket.send("x".repeat(1_000));
      Patience.eventually(() -> scope.pausedClients.stream().anyMatch(client -> !client.get().isEmpty()));
      scope.limit = Duration.ofMillis(1);
      var failures = List.of(assertThrows(AssertionError.class, scope::assertQuiet),
          assertThrows(AssertionError.class, () -> scope.advance(Duration.ofSeconds(1))));

      for (var failure : failures) assertTrue(failure.getMessage().matches(
          "(?s)scope 'test' did not become quiet within 1 ms \\(WebSocket /echo/ann has 6[5-6]\\d{3} bytes "
              + "that its paused client has not read; call resumeReading\\(\\), "
              + "or move the time by clock\\(\\).advance\\(..\\)\\):\n.*"),
          failure.getMessage());
      scope.limit = TestScope.LIMIT;
      var time = scope.clock().instant();
      scope.clock().advance(Duration.ofSeconds(1));
      assertEquals(time.plusSeconds(1), scope.clock().instant());
      socket.resumeReading();
      scope.advance(Duration.ofSeconds(1));
      assertEquals("one", socket.receiveText());
      for (int i = 0; i < 100; i++) assertEquals(1_000, socket.receiveText().length());
    }
  }

  @Test
  void closeOfServerDoesNotWaitForPausedClient() {
    try (var scope = TestScope.fibers()) {
      TestWebSocket socket;
      try (var web = TestServer.open(scope, routes())) {
        socket = web.webSocket("/echo/ann");
        scope.assertQuiet();
        socket.pauseReading();
        for (int i = 0; i < 10; i++) socket.send(new byte[30_000]);
      }
      assertEquals(1001, socket.awaitClose().code());
    }
  }

  // ---- failures of assertions

  @Test
  void waitsFailWithTextAndDump() {
    try (var scope = TestScope.fibers(); var web = TestServer.open(scope, routes())) {
      var socket = web.webSocket("/echo/ann");
      scope.limit = Duration.ofMillis(1);
      var noMessage = assertThrows(AssertionError.class, socket::receiveText);
      var noClose = assertThrows(AssertionError.class, socket::awaitClose);
      scope.limit = TestScope.LIMIT;
      socket.send("text");
      socket.send(new byte[3]);
      socket.send("untaken");
      var noBytes = assertThrows(AssertionError.class, socket::receiveBytes);
      var noText = assertThrows(AssertionError.class, socket::receiveText);
      var notNothing = assertThrows(AssertionError.class, socket::expectNothing);

      var messages = List.of(noMessage, noClose, noBytes, noText, notNothing).stream()
          .map(failure -> failure.getMessage().lines().findFirst().orElseThrow()).toList();
      assertEquals(List.of("WebSocket /echo/ann wanted a text and got nothing within 1 ms; the scope:",
          "WebSocket /echo/ann wanted a close and got nothing within 1 ms; the scope:",
          "WebSocket /echo/ann wanted bytes and got text 'text'; the scope:",
          "WebSocket /echo/ann wanted a text and got a message of 3 bytes; the scope:",
          "WebSocket /echo/ann wanted nothing and got [text 'untaken']; the scope:"), messages);
    }
  }
}
