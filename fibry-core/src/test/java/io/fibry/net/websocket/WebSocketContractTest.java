package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStoppedException;
import io.fibry.DeadLetter;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.MailboxFullException;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.AccessLogEntry;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.RawClient;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketClose;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.http.ServerResponse;
import io.fibry.pubsub.Topic;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what a WebSocket guarantees to its handler, and how it closes. */
@SuppressWarnings("try") // some clients are opened but not used
class WebSocketContractTest {
  // the clock does not advance, because otherwise a client would have only two seconds to close
  private final ServerScope net = new ServerScope(o -> o.withScheduler(new ManualScheduler()));
  private final WebSocketRecorder observer = new WebSocketRecorder();
  private final CompletableFuture<WebSocketConnection> connectionFuture = observer.connectionFuture;
  private final CompletableFuture<Object> outcome = observer.outcome;
  private final List<Object> received = new CopyOnWriteArrayList<>();
  private HttpServer server;

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    net.close();
  }

  private WebSocketPeer open(String strategy, Handler<WebSocketConnection> handler) {
    var routes = HttpRoutes.none().webSocket("/", observer.recordOutcome(handler));
    server = HttpServer.open(net.scope.named("web").strategy(Variants.STRATEGIES.get(strategy)), 0, routes, o -> o);
    return new WebSocketPeer(server.port(), "/");
  }

  private WebSocketPeer open(Handler<WebSocketConnection> handler) {
    return open("FIBER", handler);
  }

  private void readAll(WebSocketConnection connection) {
    for (var text : connection.texts()) received.add(text);
  }

  private static Throwable cause(Object outcome) {
    return assertInstanceOf(UncheckedIOException.class, outcome).getCause();
  }

  @Promise("27.16")
  @ParameterizedTest
  @MethodSource("strategies")
  void messagesOfAnyThreadArriveInOrderOfEachSender(String strategy) {
    try (var peer = open(strategy, this::readAll)) {
      var connection = Patience.value(connectionFuture);
      var senders = new ArrayList<Thread>();
      for (int s = 0; s < 3; s++) {
        int sender = s;
        senders.add(Patience.startFiber(() -> {
          for (int i = 0; i < 300; i++)
            if (i % 2 == 0) assertTrue(connection.textActor().sendMessage(sender + " " + i));
          else assertTrue(connection.binaryActor().sendMessage((sender + " " + i).getBytes()));
        }));
      }
      senders.forEach(Patience::awaitEnd);
      peer.close(1000);

      var counts = new HashMap<String, Integer>();
      for (int i = 0; i < 900; i++) {
        var parts = peer.next().text().split(" ");
        int number = Integer.parseInt(parts[1]);
        assertEquals(counts.merge(parts[0], 1, Integer::sum) - 1, number);
      }
      assertEquals(List.of("close 1000", "end"), peer.readToEnd());
      assertEquals("returned", Patience.value(outcome));
    }
  }

  @Promise("27.19")
  @ParameterizedTest
  @MethodSource("strategies")
  void webSocketClosesAfterSentMessagesWhenHandlerReturns(String strategy) {
    try (var peer = open(strategy, connection -> {
      connection.textActor().sendMessage("a");
      connection.binaryActor().sendMessage(new byte[3]);
    })) {
      assertEquals("text a", peer.next().toString());
      assertEquals("bytes 3", peer.next().toString());
      assertEquals("close 1000", peer.next().toString());

      peer.text("late").close(1000);

      assertEquals(List.of("end"), peer.readToEnd());
      assertEquals(new WebSocketClose(1000, ""), Patience.value(connectionFuture).peerClose().orElseThrow());
    }
  }

  @Promise("27.19")
  @Test
  void handlerReadsCloseCodeAndReasonOfClient() {
    try (var peer = open(connection -> {
      assertTrue(connection.peerClose().isEmpty());
      readAll(connection);
      assertEquals(new WebSocketClose(4711, "böse"), connection.peerClose().orElseThrow());
    })) {
      peer.text("a").send(WebSocketPeer.close(4711, "böse"));

      assertEquals(List.of("close 4711", "end"), peer.readToEnd());
      assertEquals("returned", Patience.value(outcome));
      assertEquals(List.of("a"), received);
    }
  }

  @Test
  void handlerFailsIfClientDisconnectsWithoutClose() {
    try (var peer = open(this::readAll)) {
      peer.close();

      assertInstanceOf(EOFException.class, cause(Patience.value(outcome)));
      assertEquals(1006, Patience.value(connectionFuture).peerClose().orElseThrow().code());
      Patience.awaitEnd(Patience.value(connectionFuture).textActor()::waitForExit);
    }
  }

  @Test
  void handlerFailsIfClientResetsConnection() throws Exception {
    try (var peer = open(this::readAll)) {
      Patience.value(connectionFuture);
      peer.socket.setSoLinger(true, 0);
      peer.close();

      assertInstanceOf(UncheckedIOException.class, Patience.value(outcome));
      assertEquals(1006, Patience.value(connectionFuture).peerClose().orElseThrow().code());
    }
  }

  @Test
  void interceptorMayRefuseUpgradeAndSetHeaders() throws Exception {
    var routes = HttpRoutes.none().webSocket("/rooms/{room}", connection -> received.add(connection.path("room")))
        .intercept((exchange, next) -> {
          if (exchange.queryParameter("token").isEmpty()) throw new HttpException(401, "who are you?");
          exchange.header("Set-Cookie", "a=b");
          next.run();
        });
    server = HttpServer.open(net.scope.anonymous(), 0, routes, o -> o);

    assertEquals("401", RawClient.codes(
        RawClient.sendAndReadAll(server.port(), WebSocketPeer.request("/rooms/a", "Connection: close"))));
    try (var peer = new WebSocketPeer(server.port(), "/rooms/b%20c?token=1")) {
      assertTrue(peer.head.contains("\r\nSet-Cookie: a=b\r\n"), peer.head);
      assertEquals("close 1000", peer.next().toString());
      assertEquals(List.of("b c"), received);
    }
  }

  @Test
  void onlyFirstCloseOfWebSocketIsSent() {
    try (var peer = open(this::readAll)) {
      var connection = Patience.value(connectionFuture);
      connection.textActor().sendMessage("last");
      connection.close(4000, "enough");
      connection.close(4001, "");
      connection.close();

      assertEquals("text last", peer.next().toString());
      var frame = peer.next();
      assertEquals("close 4000", frame.toString());
      assertTrue(frame.text().endsWith("enough"));
      peer.text("late").close(4000);
      assertEquals(List.of("end"), peer.readToEnd());
      assertEquals("returned", Patience.value(outcome));
      assertEquals(List.of(), received); // messages after a close are not delivered
    }
  }

  @Test
  void endOfTextActorClosesWebSocket() {
    try (var peer = open(this::readAll)) {
      Patience.value(connectionFuture).textActor().sendPoisonPill();

      assertEquals("close 1000", peer.next().toString());
    }
  }

  @Test
  void textActorAndBinaryActorAreSameObject() {
    try (var peer = open(connection -> {
      assertSame(connection.textActor(), (Object) connection.binaryActor());
      assertSame(connection.messages(), connection.messages());
      assertSame(connection.texts(), connection.texts());
    })) {
      assertEquals("close 1000", peer.next().toString());
    }
  }

  @Promise("27.16")
  @Test
  void messageToDisconnectedClientIsDeadLetter() {
    Topic<String> news = Topic.open(net.scope.anonymous());
    try (var peer = open(connection -> {
      news.subscribe(connection.textActor());
      readAll(connection);
    })) {
      var actor = Patience.value(connectionFuture).textActor();
      peer.text("hello");
      Patience.eventually(() -> received.contains("hello"));
      news.publish("news");
      assertEquals("text news", peer.next().toString());

      peer.close(1000);
      Patience.awaitEnd(actor::waitForExit);
      assertTrue(!actor.sendMessage("late"));

      assertEquals(List.of("late"), net.letters.messages(DeadLetter.Reason.DISCONNECTED));
      assertEquals(new ExitReason.Finished(), actor.onExit().join());
    }
  }

  @Promise("27.16")
  @Test
  void textActorIsStoppedIfClientDisconnectsWithoutClose() throws IOException {
    try (var peer = open(this::readAll)) {
      var actor = Patience.value(connectionFuture).textActor();
      peer.text("hello");
      Patience.eventually(() -> received.contains("hello"));

      peer.socket.close();

      Patience.awaitEnd(actor::waitForExit);
      assertEquals(new ExitReason.Stopped(), actor.onExit().join());
    }
  }

  @Test
  void binaryMessageToHandlerThatReadsTextsClosesWith1003() {
    try (var peer = open(this::readAll)) {
      peer.text("a").bytes(new byte[3]);

      assertEquals("close 1003", peer.next().toString());
      peer.close(1003);
      assertEquals(List.of("end"), peer.readToEnd());
      var failure = assertInstanceOf(ProtocolException.class, cause(Patience.value(outcome)));
      assertTrue(failure.getMessage().endsWith("sent bytes, where only texts are read, and the connection was closed "
          + "with 1003"), failure.getMessage());
    }
  }

  @Test
  void textsAreReadAsValuesAndInvalidTextClosesWith1007() {
    try (var peer = open(connection -> {
      for (int number : connection.texts(Integer::valueOf)) connection.textActor().sendMessage("" + (number + 1));
    })) {
      peer.text("1").text("41").text("x");

      assertEquals("text 2", peer.next().toString());
      assertEquals("text 42", peer.next().toString());
      assertEquals("close 1007", peer.next().toString());
      assertInstanceOf(NumberFormatException.class, cause(Patience.value(outcome)).getCause());
    }
  }

  @Promise("27.19")
  @Test
  void handlerFailureClosesWebSocketWith1011AndLoggedNumber() {
    try (var logged = new Logged(); var peer = open(connection -> {
      connection.textActor().sendMessage("before");
      throw new IllegalStateException("made up");
    })) {
      assertEquals("text before", peer.next().toString());
      var frame = peer.next();
      assertEquals("close 1011", frame.toString());
      var number = Pattern.compile("Internal server error ([0-9a-f]{8})$").matcher(frame.text());
      assertTrue(number.find(), frame::text);
      assertTrue(logged.text().contains("failure " + number.group(1) + " of GET / was answered 1011"), logged::text);
      assertTrue(logged.text().contains("made up"));
      peer.close(1011);
      assertEquals(List.of("end"), peer.readToEnd());
    }
  }

  @Promise("27.19")
  @ParameterizedTest
  @ValueSource(classes = {MailboxFullException.class, ActorStoppedException.class})
  void askOfFullOrEndedActorClosesWebSocketWith1013(Class<? extends Exception> expectedFailure) {
    var actor = net.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT))
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          return message;
        });
    if (expectedFailure == ActorStoppedException.class) actor.close();
    else {
      Gate.occupy(actor);
      assertTrue(actor.sendMessage("fills the mailbox"));
    }
    try (var logged = new Logged(); var peer = open(connection -> actor.ask("anybody?"))) {
      assertEquals("close 1013", peer.next().toString());
      assertInstanceOf(expectedFailure, Patience.value(outcome));
      peer.close(1013);
      assertEquals(List.of("end"), peer.readToEnd());
      assertEquals("", logged.entriesAbout("web"));
    }
  }

  @Promise("27.19")
  @Test
  void requestThatWasNotHandledClosesWebSocketWith1013() {
    try (var logged = new Logged(); var peer = open(connection -> {
      throw new RequestException("no node has the actor", "shop", "hat", null, RequestOutcome.NOT_DONE) {
        private static final long serialVersionUID = 1;
      };
    })) {
      assertEquals("close 1013", peer.next().toString());
      peer.close(1013);
      assertEquals(List.of("end"), peer.readToEnd());
      assertEquals("", logged.entriesAbout("web"));
    }
  }

  @Test
  void protocolErrorOfClientIsNotLoggedAsHandlerFailure() {
    try (var logged = new Logged(); var peer = open(this::readAll)) {
      peer.send(new byte[] {(byte) 0xff});

      assertEquals(List.of("close 1002", "end"), peer.readToEnd());
      assertInstanceOf(ProtocolException.class, cause(Patience.value(outcome)));
      assertEquals("", logged.entriesAbout("web"));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 999, 1004, 1005, 1006, 1015, 2999, 5000})
  void invalidCloseCodeIsRefused(int code) {
    try (var peer = open(connection -> connection.close(code, ""))) {
      peer.close(1000);

      assertEquals("a close frame cannot have the code " + code + "; give 1000 for the normal end, or 4000 to "
          + "4999 for a code of your own",
          assertInstanceOf(IllegalArgumentException.class, Patience.value(outcome)).getMessage());
    }
  }

  @Test
  void invalidArgumentsAreRefusedWithClearTexts() {
    try (var peer = open(connection -> {
      assertEquals("a close frame cannot have a reason of 124 bytes; give at most 123, or send a message before",
          assertThrows(IllegalArgumentException.class, () -> connection.close(1000, "ä".repeat(62))).getMessage());
      assertThrows(IllegalArgumentException.class, () -> connection.close(1000, "\ud800"));
      assertThrows(NullPointerException.class, () -> connection.close(1000, null));
      assertThrows(NullPointerException.class, () -> connection.textActor().sendMessage(null));
      assertThrows(NullPointerException.class, () -> connection.texts(null));
      assertThrows(NullPointerException.class, () -> connection.queryParameter(null));
      connection.textActor().sendMessage("a\udc00b");
      connection.close(3000, "ä".repeat(61) + "x");
    })) {
      assertEquals("close 3000", peer.next().toString());
      peer.close(3000);
      assertEquals("returned", Patience.value(outcome));
      Patience.eventually(() -> net.letters.all.size() == 1);
      assertEquals("a\udc00b", net.letters.all.getFirst().message());
      assertEquals("character 1 of the text is half of a pair of surrogates, which UTF-8 cannot have; send whole "
          + "characters, or bytes",
          assertThrows(IllegalArgumentException.class, () -> WebSocketFrames.utf8Size("a\udc00b")).getMessage());
    }
  }

  @Promise("27.13")
  @Test
  void exchangeEndsWhenWebSocketOpens() {
    var log = new LinkedBlockingQueue<AccessLogEntry>();
    var routes = HttpRoutes.none().webSocket("/", observer.recordOutcome(this::readAll));
    server = HttpServer.open(net.scope.anonymous(), 0, routes, o -> o.withAccessLog(log::add));
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      Patience.value(connectionFuture);

      assertEquals(101, log.remove().status());
      var stat = server.stats().getFirst();
      assertEquals("/ 1 0 1", stat.route() + " " + stat.answered() + " " + stat.failed() + " " + stat.openWebSockets());
      assertEquals(1, stat.responses().upgraded());
      assertTrue(stat.totalTime().isPositive());
      peer.close(1000);
      assertEquals(List.of("close 1000", "end"), peer.readToEnd());

      Patience.eventually(() -> server.stats().getFirst().openWebSockets() == 0);
      assertEquals(stat.totalTime(), server.stats().getFirst().totalTime());
      assertTrue(log.isEmpty());
    }
  }

  @Test
  void begunResponseCannotBeUpgraded() {
    var response = new ServerResponse(java.io.OutputStream.nullOutputStream(), true, false, true, false);
    response.outputStream();

    assertEquals("an upgrade comes too late: the response has begun; do this first",
        assertThrows(IllegalStateException.class, () -> response.upgrade(List.of())).getMessage());
  }
}
