package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The limits of a WebSocket, by a clock that tests move, and its end. */
@SuppressWarnings("try") // an unused client
class WebSocketLimitsTest {
  private static final byte[] PING = WebSocketPeer.frame(0x89, "x".repeat(125));

  private final ManualScheduler clock = new ManualScheduler();
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("limits", o -> o.withScheduler(clock).withDeadLetters(letters));
  private final WatchedWebSocket watched = new WatchedWebSocket();
  private final CompletableFuture<WebSocketConnection> connected = watched.connected;
  private final CompletableFuture<Object> outcome = watched.outcome;
  private final List<String> seen = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Thread> reading = new CompletableFuture<>();
  private final List<Thread> readers = new CopyOnWriteArrayList<>();
  private HttpServer server;

  private void open(UnaryOperator<WebSocketOptions> options, UnaryOperator<HttpOptions> limits,
      Handler<WebSocketConnection> handler) {
    server = HttpServer.open(scope.anonymous(), 0,
        HttpRoutes.none().webSocket("/", watched.by(handler), options).text("/http", exchange -> "text"), limits);
  }

  private void open(UnaryOperator<WebSocketOptions> options) {
    open(options, o -> o, this::readAll);
  }

  private void readAll(WebSocketConnection connection) {
    reading.complete(Thread.currentThread());
    readers.add(Thread.currentThread());
    for (var text : connection.texts()) seen.add(text);
  }

  private WebSocketPeer connect() {
    return new WebSocketPeer(server.port(), "/");
  }

  @AfterEach
  void close() {
    Gate.openAll();
    if (server != null) server.kill();
    scope.close();
  }

  private void pass(int seconds) {
    for (int i = 0; i < seconds; i++) clock.advance(Duration.ofSeconds(1));
  }

  private static Throwable cause(Object outcome) {
    return assertInstanceOf(UncheckedIOException.class, outcome).getCause();
  }

  /** Sends a message, so that the handler reads. */
  private WebSocketPeer heard(WebSocketPeer peer) {
    int before = seen.size();
    peer.text("x");
    Patience.eventually(() -> seen.size() > before);
    return peer;
  }

  /** Sends a message; then all handlers wait for their clients again. */
  private WebSocketPeer heardAndWaiting(WebSocketPeer peer) {
    heard(peer);
    Patience.eventually(() -> readers.stream().allMatch(ServerScope::isWaitingForClient));
    return peer;
  }

  @Promise("27.18")
  @Test
  void aSilentClientIsPingedAndStaysAsLongAsItAnswers() {
    open(o -> o.withIdleLimit(Duration.ofSeconds(40)));
    try (var peer = heard(connect())) {
      for (int i = 0; i < 5; i++) {
        pass(20); // twice a quarter
        assertEquals("ping", peer.next().toString());
        peer.send(WebSocketPeer.frame(0x8a, ""));
        heard(peer);
      }
      assertFalse(outcome.isDone());
    }
  }

  @Promise("27.18")
  @Test
  void aClientThatAnswersNothingIsCutOffAtTheIdleLimit() {
    open(o -> o.withIdleLimit(Duration.ofSeconds(40)));
    try (var peer = heard(connect())) {
      pass(38);
      assertFalse(outcome.isDone());
      Patience.eventually(() -> {
        pass(1);
        return outcome.isDone();
      });

      var failure = assertInstanceOf(SocketTimeoutException.class, cause(outcome.join()));
      assertTrue(failure.getMessage().endsWith("sent nothing for 40 s (the idle limit), so it was cut off"),
          failure.getMessage());
      assertEquals("reset", peer.rest().getLast());
      Patience.eventually(() -> connected.join().textActor().onExit().isDone());
      assertEquals(List.of(), letters.messages()); // pings are the server's own
    }
  }

  @Test
  @SuppressWarnings("unchecked") // a timer of the server sends it, too
  void pingThatMeetsTheEndIsNoDeadLetter() {
    open(o -> o);
    try (var peer = heard(connect()).close(1000)) {
      var actor = (Actor<Object>) (Actor<?>) Patience.value(connected).textActor();
      Patience.ended(actor::waitForExit);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      long before = scope.report().sent();

      assertFalse(actor.sendMessage(ServerWebSocket.PING));

      assertEquals(List.of(), letters.messages());
      assertEquals(before, scope.report().sent());
    }
  }

  @Test
  void clientIsNotPingedWithoutIdleLimit() {
    open(o -> o.withIdleLimit(java.time.temporal.ChronoUnit.FOREVER.getDuration()));
    try (var peer = heard(connect())) {
      clock.advance(Duration.ofDays(2));
      heard(peer).close(1000);

      assertEquals(List.of("close 1000", "end"), peer.rest());
    }
  }

  @Promise("27.16")
  @Test
  void aClientThatDoesNotReadIsCutOffAndNobodyWaitsForIt() throws IOException {
    open(o -> o.withMaxUnsent(200_000));
    try (var peer = WebSocketPeer.slow(server.port(), "/")) {
      var actor = Patience.value(connected).textActor();
      var text = "x".repeat(50_000);

      int sent = 0;
      while (actor.sendMessage(text)) assertTrue(++sent < 100_000, "nobody is cut off");

      Patience.ended(actor::waitForExit);
      assertInstanceOf(ExitReason.Stopped.class, actor.onExit().join());
      assertInstanceOf(UncheckedIOException.class, Patience.value(outcome));
      assertTrue(List.of("reset", "torn").contains(peer.rest().getLast()));
    }
  }

  @Test
  void aClientThatTakesNoWriteIsCutOffAtTheWriteLimit() throws IOException {
    open(o -> o.withMaxUnsent(50_000_000), o -> o.withWriteLimit(Duration.ofSeconds(5)), this::readAll);
    try (var peer = WebSocketPeer.slow(server.port(), "/")) {
      Patience.value(connected).binaryActor().sendMessage(new byte[40_000_000]);

      Patience.eventually(() -> {
        pass(1);
        return outcome.isDone();
      });
      assertInstanceOf(SocketTimeoutException.class, cause(outcome.join()));
    }
  }

  @Test
  void theLongestMessageThatIsReadCanBeSentBack() {
    for (int longest : new int[] {10, 1_000_000, 3_000_000}) {
      var routes = HttpRoutes.none().webSocket("/", connection -> {
        for (var text : connection.texts()) connection.textActor().sendMessage(text);
      }, o -> o.withMaxMessage(longest));
      server = HttpServer.open(scope.anonymous(), 0, routes, o -> o);
      try (var peer = connect()) {
        peer.text("x".repeat(longest));

        assertEquals("text " + "x".repeat(longest), peer.next().toString());
      }
      server.kill();
    }
  }

  @Test
  void pingDoesNotCutOffClientAtUnsentLimit() throws IOException {
    open(o -> o.withMaxUnsent(20_000_010).withIdleLimit(Duration.ofSeconds(40)));
    try (var peer = WebSocketPeer.slow(server.port(), "/")) {
      Patience.value(connected).binaryActor().sendMessage(new byte[20_000_000]);
      pass(12);

      assertEquals("bytes 20000000", peer.next().toString());
      assertFalse(outcome.isDone());
    }
  }

  @Promise("27.18")
  @Test
  void aFloodOfPingsWaitsForTheClientToTakeItsPongs() throws Exception {
    open(o -> o);
    try (var peer = WebSocketPeer.slow(server.port(), "/")) {
      var server = Patience.value(reading);
      var flood = new byte[PING.length * 1_000];
      for (int i = 0; i < 1_000; i++) System.arraycopy(PING, 0, flood, i * PING.length, PING.length);
      var sent = new AtomicInteger();
      var enough = new AtomicBoolean();
      var flooding = Patience.startFiber(() -> {
        try {
          for (; !enough.get(); sent.addAndGet(1_000)) peer.send(flood); // more than the system takes
          peer.close(1000);
        } catch (UncheckedIOException cut) {
          outcome.completeExceptionally(cut);
        }
      });
      Patience.progress(sent::get, () -> Patience.isParked(flooding) && ServerScope.isWaitingForClient(server));
      enough.set(true);

      int pongs = 0;
      var last = "";
      while ((last = peer.next().toString()).equals("pong 125")) pongs++;
      Patience.joined(flooding);
      assertEquals(sent.get(), pongs);
      assertEquals("close 1000", last);
      assertEquals(List.of("end"), peer.rest());
    }
  }

  @Promise("27.15")
  @Test
  void aLengthAloneTakesNoMemory() {
    open(o -> o.withMaxMessage(Integer.MAX_VALUE));
    var peers = new ArrayList<WebSocketPeer>();
    for (int i = 0; i < 64; i++) { // 128 GB
      peers.add(connect().send(new byte[] {(byte) 0x82, (byte) 0xff, 0, 0, 0, 0, 0x7f, (byte) 0xff, 0, 0, 1, 2, 3, 4}));
      peers.getLast().send(new byte[10]);
    }

    try (var peer = heard(connect())) {
      peer.close(1000);
      assertEquals(List.of("close 1000", "end"), peer.rest());
    }
    peers.forEach(WebSocketPeer::close);
  }

  private void refused(UnaryOperator<WebSocketOptions> options, int length, String told) {
    open(options);
    try (var peer = connect()) {
      peer.text("x".repeat(length));

      assertEquals("close 1009", peer.next().toString());
      assertTrue(cause(Patience.value(outcome)).getMessage().endsWith(" sent " + told),
          () -> outcome.join().toString());
    }
  }

  @Promise("27.15")
  @Test
  void oversizedFrameIsRefusedByMessageLimit() {
    refused(o -> o.withMaxMessage(1_000).withMaxFrame(2_000), 2_001,
        "a message longer than 1000 bytes, and the connection was closed with 1009; withMaxMessage allows more");
  }

  @Promise("27.15")
  @Test
  void longFrameIsRefusedByLowerLimit() {
    refused(o -> o.withMaxMessage(1_000).withMaxFrame(100), 1_001,
        "a frame longer than 100 bytes, and the connection was closed with 1009; withMaxFrame allows more");
  }

  @Promise("27.17")
  @Test
  void aWebSocketThatWaitsIsNoExchangeAtWork() throws IOException {
    open(o -> o, o -> o.withMaxExchanges(1), this::readAll);
    try (var first = heardAndWaiting(connect()); var second = heardAndWaiting(connect())) {
      assertEquals("200", RawClient.codes(RawClient.talk(server.port(), RawClient.get("/http"))));
      heard(first).close(1000);
      heard(second).close(1000);
      assertEquals(List.of("close 1000", "end"), second.rest());
    }
  }

  // ---- the end

  @Promise("27.19")
  @Test
  void aClientThatDoesNotCloseHasTwoSeconds() {
    open(o -> o, o -> o, connection -> reading.complete(Thread.currentThread()));
    try (var peer = connect()) {
      assertEquals("close 1000", peer.next().toString());
      assertEquals("returned", Patience.value(outcome));
      var conversation = Patience.value(reading);
      Patience.eventually(() -> ServerScope.isWaitingForClient(conversation)); // the write is over

      pass(2);

      Patience.eventually(() -> ((HttpListener) server).conversations().isEmpty());
      assertEquals(List.of("end"), peer.rest());
    }
  }

  @Promise("27.20")
  @Test
  void theEndOfTheServerIsToldAndMessagesEnd() {
    open(o -> o);
    try (var peer = heard(connect())) {
      Patience.value(connected).textActor().sendMessage("last");
      server.sendPoisonPill();

      assertEquals("text last", peer.next().toString());
      assertEquals("close 1001", peer.next().toString());
      assertFalse(outcome.isDone());
      peer.close(1001);
      assertEquals(List.of("end"), peer.rest());
      assertEquals("returned", Patience.value(outcome));
      Patience.ended(server::waitForExit);
    }
  }

  @Promise("27.20")
  @Test
  void aHandlerThatGoesOnIsCutOffAtTheDrainLimit() {
    var gate = new Gate();
    open(o -> o, o -> o.withDrainLimit(Duration.ofSeconds(20)), connection -> gate.pass());
    try (var peer = connect()) {
      Patience.await(gate.entered);
      server.sendPoisonPill();
      assertEquals("close 1001", peer.next().toString());

      Patience.eventually(() -> {
        pass(1);
        return server.onExit().isDone();
      });
      assertEquals("reset", peer.rest().getLast());
      assertInstanceOf(InterruptedException.class, Patience.value(outcome));
    }
  }

  @Promise("27.20")
  @Test
  void aServerThatIsKilledLooksBrokenNotEnded() {
    open(o -> o);
    try (var peer = heard(connect())) {
      server.kill();

      assertEquals(List.of("reset"), peer.rest());
      assertInstanceOf(UncheckedIOException.class, Patience.value(outcome));
      Patience.ended(server::waitForExit);
    }
  }

  @Test
  void afterItsEndTheServerHasNoConnectionLeft() {
    open(o -> o);
    var peers = new ArrayList<WebSocketPeer>();
    for (int i = 0; i < 20; i++) peers.add(heard(connect()));
    for (int i = 0; i < 10; i++) peers.get(i).close(); // without a close
    for (int i = 10; i < 15; i++) peers.get(i).close(1000);

    var listener = (HttpListener) server;
    Patience.eventually(() -> listener.conversations().size() == 5);
    server.sendPoisonPill();
    for (int i = 15; i < 20; i++) assertEquals("close 1001", peers.get(i).close(1001).rest().getFirst());
    Patience.ended(server::waitForExit);
    assertEquals(List.of(), listener.conversations());
    peers.forEach(WebSocketPeer::close);
  }
}
