package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.net.HttpOptions;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.RawClient;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.WebSocketOptions;
import io.fibry.net.http.HttpListener;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
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

/**
 * Tests the limits of a WebSocket with a clock that the tests advance, and WebSockets at the end of
 * the server.
 */
@SuppressWarnings("try") // some clients are opened but not used
class WebSocketLimitsTest {
  private static final byte[] PING = WebSocketPeer.frame(0x89, "x".repeat(125));

  private final ManualScheduler clock = new ManualScheduler();
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("limits", o -> o.withScheduler(clock).withDeadLetterListener(letters));
  private final WebSocketRecorder observer = new WebSocketRecorder();
  private final CompletableFuture<WebSocketConnection> connectionFuture = observer.connectionFuture;
  private final CompletableFuture<Object> outcome = observer.outcome;
  private final List<String> received = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Thread> handlerThread = new CompletableFuture<>();
  private final List<Thread> handlerThreads = new CopyOnWriteArrayList<>();
  private HttpServer server;

  private void open(UnaryOperator<WebSocketOptions> options, UnaryOperator<HttpOptions> limits,
      Handler<WebSocketConnection> handler) {
    server = HttpServer.open(scope.anonymous(), 0,
        HttpRoutes.none().webSocket("/", observer.recordOutcome(handler), options).text("/http", exchange -> "text"),
        limits);
  }

  private void open(UnaryOperator<WebSocketOptions> options) {
    open(options, o -> o, this::readAll);
  }

  private void readAll(WebSocketConnection connection) {
    handlerThread.complete(Thread.currentThread());
    handlerThreads.add(Thread.currentThread());
    for (var text : connection.texts()) received.add(text);
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

  private void advanceSeconds(int seconds) {
    for (int i = 0; i < seconds; i++) clock.advance(Duration.ofSeconds(1));
  }

  private static Throwable cause(Object outcome) {
    return assertInstanceOf(UncheckedIOException.class, outcome).getCause();
  }

  /** Sends a message, and waits until the handler has received it. */
  private WebSocketPeer sendAndAwait(WebSocketPeer peer) {
    int receivedBefore = received.size();
    peer.text("x");
    Patience.eventually(() -> received.size() > receivedBefore);
    return peer;
  }

  /** Sends a message, and waits until all handlers wait for their clients again. */
  private WebSocketPeer sendAndAwaitIdleHandlers(WebSocketPeer peer) {
    sendAndAwait(peer);
    Patience.eventually(() -> handlerThreads.stream().allMatch(ServerScope::isWaitingForClient));
    return peer;
  }

  @Promise("27.18")
  @Test
  void silentClientStaysConnectedWhileItRepliesToPings() {
    open(o -> o.withIdleLimit(Duration.ofSeconds(40)));
    try (var peer = sendAndAwait(connect())) {
      for (int i = 0; i < 5; i++) {
        advanceSeconds(20); // two quarters of the idle limit
        assertEquals("ping", peer.next().toString());
        peer.send(WebSocketPeer.frame(0x8a, ""));
        sendAndAwait(peer);
      }
      assertFalse(outcome.isDone());
    }
  }

  @Promise("27.18")
  @Test
  void clientThatSendsNoPongsIsCutOffAtIdleLimit() {
    open(o -> o.withIdleLimit(Duration.ofSeconds(40)));
    try (var peer = sendAndAwait(connect())) {
      advanceSeconds(38);
      assertFalse(outcome.isDone());
      Patience.eventually(() -> {
        advanceSeconds(1);
        return outcome.isDone();
      });

      var failure = assertInstanceOf(SocketTimeoutException.class, cause(outcome.join()));
      assertTrue(failure.getMessage().endsWith("sent nothing for 40 s (the idle limit), so it was cut off"),
          failure.getMessage());
      assertEquals("reset", peer.readToEnd().getLast());
      Patience.eventually(() -> connectionFuture.join().textActor().onExit().isDone());
      assertEquals(List.of(), letters.messages()); // an unsent ping is no dead letter
    }
  }

  @Test
  @SuppressWarnings("unchecked") // sends the ping that otherwise a timer of the server sends
  void serverPingAfterCloseIsNoDeadLetter() {
    open(o -> o);
    try (var peer = sendAndAwait(connect()).close(1000)) {
      var actor = (Actor<Object>) (Actor<?>) Patience.value(connectionFuture).textActor();
      Patience.awaitEnd(actor::waitForExit);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      long sentBefore = scope.report().sent();

      assertFalse(actor.sendMessage(ServerWebSocket.PING));

      assertEquals(List.of(), letters.messages());
      assertEquals(sentBefore, scope.report().sent());
    }
  }

  @Test
  void clientIsNotPingedWithoutIdleLimit() {
    open(o -> o.withIdleLimit(java.time.temporal.ChronoUnit.FOREVER.getDuration()));
    try (var peer = sendAndAwait(connect())) {
      clock.advance(Duration.ofDays(2));
      sendAndAwait(peer).close(1000);

      assertEquals(List.of("close 1000", "end"), peer.readToEnd());
    }
  }

  @Test
  void clientThatDoesNotReadIsCutOffAtWriteLimit() throws IOException {
    open(o -> o.withMaxUnsent(50_000_000), o -> o.withWriteLimit(Duration.ofSeconds(5)), this::readAll);
    try (var peer = WebSocketPeer.openWithSmallBuffer(server.port(), "/")) {
      Patience.value(connectionFuture).binaryActor().sendMessage(new byte[40_000_000]);

      Patience.eventually(() -> {
        advanceSeconds(1);
        return outcome.isDone();
      });
      assertInstanceOf(SocketTimeoutException.class, cause(outcome.join()));
    }
  }

  @Test
  void pingBeyondUnsentLimitDoesNotCutOffClient() throws IOException {
    open(o -> o.withMaxUnsent(20_000_010).withIdleLimit(Duration.ofSeconds(40)));
    try (var peer = WebSocketPeer.openWithSmallBuffer(server.port(), "/")) {
      Patience.value(connectionFuture).binaryActor().sendMessage(new byte[20_000_000]);
      advanceSeconds(12);

      assertEquals("bytes 20000000", peer.next().toString());
      assertFalse(outcome.isDone());
    }
  }

  @Promise("27.18")
  @Test
  void serverReadsNoMorePingsUntilClientReadsPongs() throws Exception {
    open(o -> o);
    try (var peer = WebSocketPeer.openWithSmallBuffer(server.port(), "/")) {
      var reader = Patience.value(handlerThread);
      var flood = new byte[PING.length * 1_000];
      for (int i = 0; i < 1_000; i++) System.arraycopy(PING, 0, flood, i * PING.length, PING.length);
      var sent = new AtomicInteger();
      var stop = new AtomicBoolean();
      var floodThread = Patience.startFiber(() -> {
        try {
          for (; !stop.get(); sent.addAndGet(1_000)) peer.send(flood); // more than the socket buffers can store
          peer.close(1000);
        } catch (UncheckedIOException failure) {
          outcome.completeExceptionally(failure);
        }
      });
      try {
        Patience.progress(sent::get, () -> Patience.isParked(floodThread) && ServerScope.isWaitingForClient(reader));
      } finally {
        stop.set(true);
      }

      int pongs = 0;
      var frame = "";
      while ((frame = peer.next().toString()).equals("pong 125")) pongs++;
      Patience.awaitEnd(floodThread);
      assertEquals(sent.get(), pongs);
      assertEquals("close 1000", frame);
      assertEquals(List.of("end"), peer.readToEnd());
    }
  }

  @Promise("27.15")
  @Test
  void declaredFrameLengthAllocatesNoMemory() {
    open(o -> o.withMaxMessage(Integer.MAX_VALUE));
    var peers = new ArrayList<WebSocketPeer>();
    for (int i = 0; i < 64; i++) { // declares 128 GB in all
      peers.add(connect().send(new byte[] {(byte) 0x82, (byte) 0xff, 0, 0, 0, 0, 0x7f, (byte) 0xff, 0, 0, 1, 2, 3, 4}));
      peers.getLast().send(new byte[10]);
    }

    try (var peer = sendAndAwait(connect())) {
      peer.close(1000);
      assertEquals(List.of("close 1000", "end"), peer.readToEnd());
    }
    peers.forEach(WebSocketPeer::close);
  }

  private void assertRefused(UnaryOperator<WebSocketOptions> options, int length, String expectedText) {
    open(options);
    try (var peer = connect()) {
      peer.text("x".repeat(length));

      assertEquals("close 1009", peer.next().toString());
      assertTrue(cause(Patience.value(outcome)).getMessage().endsWith(" sent " + expectedText),
          () -> outcome.join().toString());
    }
  }

  @Promise("27.15")
  @Test
  void refusalNamesMessageLimitIfItIsBelowFrameLimit() {
    assertRefused(o -> o.withMaxMessage(1_000).withMaxFrame(2_000), 2_001,
        "a message longer than 1000 bytes, and the connection was closed with 1009; withMaxMessage allows more");
  }

  @Promise("27.15")
  @Test
  void refusalNamesFrameLimitIfItIsBelowMessageLimit() {
    assertRefused(o -> o.withMaxMessage(1_000).withMaxFrame(100), 1_001,
        "a frame longer than 100 bytes, and the connection was closed with 1009; withMaxFrame allows more");
  }

  @Promise("27.17")
  @Test
  void waitingWebSocketHoldsNoExchangePermit() throws IOException {
    open(o -> o, o -> o.withMaxExchanges(1), this::readAll);
    try (var first = sendAndAwaitIdleHandlers(connect()); var second = sendAndAwaitIdleHandlers(connect())) {
      assertEquals("200", RawClient.codes(RawClient.sendAndReadAll(server.port(), RawClient.get("/http"))));
      sendAndAwait(first).close(1000);
      sendAndAwait(second).close(1000);
      assertEquals(List.of("close 1000", "end"), second.readToEnd());
    }
  }

  // ---- the end of the server

  @Promise("27.19")
  @Test
  void clientThatIgnoresCloseIsCutOffAfterTwoSeconds() {
    open(o -> o, o -> o, connection -> handlerThread.complete(Thread.currentThread()));
    try (var peer = connect()) {
      assertEquals("close 1000", peer.next().toString());
      assertEquals("returned", Patience.value(outcome));
      var closingThread = Patience.value(handlerThread);
      Patience.eventually(() -> ServerScope.isWaitingForClient(closingThread)); // the close frame is written

      advanceSeconds(2);

      Patience.eventually(() -> ((HttpListener) server).conversations().isEmpty());
      assertEquals(List.of("end"), peer.readToEnd());
    }
  }

  @Promise("27.20")
  @Test
  void endOfServerClosesWebSocketsWith1001() {
    open(o -> o);
    try (var peer = sendAndAwait(connect())) {
      Patience.value(connectionFuture).textActor().sendMessage("last");
      server.sendPoisonPill();

      assertEquals("text last", peer.next().toString());
      assertEquals("close 1001", peer.next().toString());
      assertFalse(outcome.isDone());
      peer.close(1001);
      assertEquals(List.of("end"), peer.readToEnd());
      assertEquals("returned", Patience.value(outcome));
      Patience.awaitEnd(server::waitForExit);
    }
  }

  /** Many clients, because the scope ends the actor of one of them before the server. */
  @Promise("27.20")
  @Test
  void endOfScopeClosesWebSocketsWith1001() {
    open(o -> o);
    var peers = new ArrayList<WebSocketPeer>();
    for (int i = 0; i < 20; i++) peers.add(sendAndAwait(connect()));
    var closer = Patience.startFiber(scope::close);

    for (var peer : peers) {
      assertEquals("close 1001", peer.next().toString());
      peer.close(1001);
    }
    Patience.awaitEnd(closer);
    peers.forEach(WebSocketPeer::close);
  }

  @Promise("27.20")
  @Test
  void runningHandlerIsInterruptedAtDrainLimit() {
    var gate = new Gate();
    open(o -> o, o -> o.withDrainLimit(Duration.ofSeconds(20)), connection -> gate.pass());
    try (var peer = connect()) {
      Patience.await(gate.entered);
      server.sendPoisonPill();
      assertEquals("close 1001", peer.next().toString());

      Patience.eventually(() -> {
        advanceSeconds(1);
        return server.onExit().isDone();
      });
      assertEquals("reset", peer.readToEnd().getLast());
      assertInstanceOf(InterruptedException.class, Patience.value(outcome));
    }
  }

  @Promise("27.20")
  @Test
  void killedServerResetsWebSocketConnections() {
    open(o -> o);
    try (var peer = sendAndAwait(connect())) {
      server.kill();

      assertEquals(List.of("reset"), peer.readToEnd());
      assertInstanceOf(UncheckedIOException.class, Patience.value(outcome));
      Patience.awaitEnd(server::waitForExit);
    }
  }

  @Test
  void endedServerHasNoConnections() {
    open(o -> o);
    var peers = new ArrayList<WebSocketPeer>();
    for (int i = 0; i < 20; i++) peers.add(sendAndAwait(connect()));
    for (int i = 0; i < 10; i++) peers.get(i).close(); // without a close frame
    for (int i = 10; i < 15; i++) peers.get(i).close(1000);

    var listener = (HttpListener) server;
    Patience.eventually(() -> listener.conversations().size() == 5);
    server.sendPoisonPill();
    for (int i = 15; i < 20; i++) assertEquals("close 1001", peers.get(i).close(1001).readToEnd().getFirst());
    Patience.awaitEnd(server::waitForExit);
    assertEquals(List.of(), listener.conversations());
    peers.forEach(WebSocketPeer::close);
  }
}
