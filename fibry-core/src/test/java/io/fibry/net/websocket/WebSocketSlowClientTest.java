package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.ExitReason;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.WebSocketMessage;
import io.fibry.net.WebSocketOptions;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what a client gets that reads too slowly, and which messages always fit. */
class WebSocketSlowClientTest {
  private static final int FRAME = 20_000_000; // bytes that no buffers of sockets can store
  private static final int MAX_UNSENT = 21_000_000;

  private final ManualScheduler clock = new ManualScheduler();
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("slow", o -> o.withScheduler(clock).withDeadLetterListener(letters));
  private final WebSocketRecorder observer = new WebSocketRecorder();
  private final CompletableFuture<WebSocketConnection> connectionFuture = observer.connectionFuture;
  private final CompletableFuture<Object> outcome = observer.outcome;
  private HttpServer server;

  private void open(UnaryOperator<WebSocketOptions> options) {
    server = HttpServer.open(scope.named("web"), 0, HttpRoutes.none().webSocket("/",
        observer.recordOutcome(connection -> {
          for (var message : connection.messages()) assertTrue(message != null);
        }), options), o -> o);
  }

  /** Opens a client that has received the first bytes of a frame, and whose buffers are full. */
  private WebSocketPeer openSlowClient() throws IOException {
    open(o -> o.withMaxUnsent(MAX_UNSENT));
    var peer = WebSocketPeer.openWithSmallBuffer(server.port(), "/");
    assertTrue(Patience.value(connectionFuture).binaryActor().sendMessage(new byte[FRAME]));
    return peer.awaitFrame();
  }

  /** Sends texts until the client is cut off. Returns how many texts were accepted. */
  private static int sendUntilRefused(Actor<String> actor) {
    var text = "x".repeat(300_000);
    int accepted = 0;
    while (actor.sendMessage(text)) assertTrue(++accepted < 10, "the client is not cut off");
    return accepted;
  }

  private static SocketTimeoutException timeout(Object outcome) {
    return assertInstanceOf(SocketTimeoutException.class,
        assertInstanceOf(UncheckedIOException.class, outcome).getCause());
  }

  @AfterEach
  void close() {
    if (server != null) server.kill();
    scope.close();
  }

  // ---- the close of a slow client

  @Promise({"27.16", "27.32", "27.43"})
  @Test
  void cutOffClientGetsMessageInProgressAndCloseWithReason() throws IOException {
    try (var logged = new Logged(); var peer = openSlowClient()) {
      var actor = connectionFuture.join().textActor();

      int accepted = sendUntilRefused(actor);

      Patience.awaitEnd(actor::waitForExit);
      assertInstanceOf(ExitReason.Stopped.class, actor.onExit().join());
      assertEquals("bytes " + FRAME, peer.next().toString());
      var close = peer.next();
      assertEquals("close 1008", close.toString());
      peer.text("late").close(1008);
      assertEquals(List.of("end"), peer.readToEnd());
      var reason = new String(Arrays.copyOfRange(close.data(), 2, close.data().length), StandardCharsets.UTF_8);
      assertTrue(reason.matches("client /127.0.0.1:\\d+ left more than 21000000 bytes unsent, so it was cut off"),
          reason);
      assertEquals(reason, timeout(Patience.value(outcome)).getMessage());
      assertEquals(accepted + 1, letters.messages(DeadLetter.Reason.DISCONNECTED).size());
      Patience.eventually(() -> logged.entriesAbout("'web'").contains(reason));
      Patience.eventually(() -> server.load().cutOffClients() == 1);
    }
  }

  @Promise({"27.32", "27.43"})
  @Test
  void noFrameFollowsMessageThatIsNotCompleteAtWriteLimit() throws IOException {
    try (var logged = new Logged(); var peer = openSlowClient()) {
      sendUntilRefused(connectionFuture.join().textActor());
      assertFalse(outcome.isDone());
      // the client counts, and is logged, only when it is gone
      assertEquals("0 ", server.load().cutOffClients() + " " + logged.entriesAbout("'web'"));

      Patience.eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return outcome.isDone();
      });

      timeout(outcome.join());
      var end = peer.readToEnd();
      assertTrue(end.equals(List.of("torn")) || end.equals(List.of("reset")), end.toString());
      Patience.eventually(() -> server.load().cutOffClients() == 1);
      Patience.eventually(() -> logged.entriesAbout("'web'").contains("so it was cut off"));
    }
  }

  @Promise("27.32")
  @Test
  void cutOffClientHasTwoSecondsToClose() throws IOException {
    try (var peer = openSlowClient()) {
      sendUntilRefused(connectionFuture.join().textActor());
      assertEquals("bytes " + FRAME, peer.next().toString());
      assertEquals("close 1008", peer.next().toString());

      // the timer is set after the close frame is written; if the clock moved before, the frame
      // would exceed the write limit
      var closeTime = Duration.ofSeconds(2);
      Patience.eventually(() -> clock.untilNext().filter(next -> next.compareTo(closeTime) <= 0).isPresent());
      clock.advance(closeTime);

      assertEquals(List.of("end"), peer.readToEnd());
      timeout(Patience.value(outcome));
    }
  }

  @Promise("27.32")
  @Test
  void closeCallAfterCutOffDoesNotReplaceCloseCode() throws IOException {
    try (var peer = openSlowClient()) {
      var connection = connectionFuture.join();
      sendUntilRefused(connection.textActor());
      connection.close(4000, "too late");

      assertEquals("bytes " + FRAME, peer.next().toString());
      assertEquals("close 1008", peer.next().toString());
    }
  }

  @Promise("27.32")
  @Test
  void cutOffClientThatDisconnectsEndsHandlerWithReason() throws IOException {
    try (var peer = openSlowClient()) {
      sendUntilRefused(connectionFuture.join().textActor());
      peer.socket.close();

      assertTrue(timeout(Patience.value(outcome)).getMessage().contains("left more than 21000000 bytes unsent"));
    }
  }

  @Test
  void reasonOfCloseFrameIsCutToWholeCharacters() {
    assertEquals("x".repeat(123), CloseFrame.fitReason("x".repeat(123)));
    assertEquals("x".repeat(123), CloseFrame.fitReason("x".repeat(124)));
    assertEquals("ä".repeat(61), CloseFrame.fitReason("ä".repeat(62)));
    assertEquals("x" + "ä".repeat(61), CloseFrame.fitReason("x" + "ä".repeat(61) + "x"));
    assertEquals("世".repeat(41), CloseFrame.fitReason("世".repeat(42)));
    assertEquals("\ud83d\ude00".repeat(30), CloseFrame.fitReason("\ud83d\ude00".repeat(31)));
    assertEquals("", CloseFrame.fitReason(""));
  }

  // ---- unsent bytes

  @Promise("27.33")
  @Test
  void unsentBytesCountMessagesUntilTheyAreWritten() throws IOException {
    try (var peer = openSlowClient()) {
      var connection = connectionFuture.join();
      assertEquals(FRAME + 32, connection.unsentBytes());

      connection.textActor().sendMessage("äb");
      assertEquals(FRAME + 32 + 3 + 32, connection.unsentBytes());

      assertEquals("bytes " + FRAME, peer.next().toString());
      assertEquals("text äb", peer.next().toString());
      Patience.eventually(() -> connection.unsentBytes() == 0);
    }
  }

  @Promise("27.33")
  @Test
  void pingsOfServerDoNotCountAsUnsentBytes() throws IOException {
    try (var peer = openSlowClient()) {
      var connection = connectionFuture.join();
      clock.advance(Duration.ofSeconds(20)); // a ping is due

      assertEquals(FRAME + 32, connection.unsentBytes());
      assertTrue(connection.binaryActor().sendMessage(new byte[MAX_UNSENT - FRAME - 32]));
      assertEquals("bytes " + FRAME, peer.next().toString());
    }
  }

  @Promise("27.33")
  @Test
  void unsentBytesAreZeroAfterCutOffClientDisconnects() throws IOException {
    try (var peer = openSlowClient()) {
      var connection = connectionFuture.join();
      sendUntilRefused(connection.textActor());
      peer.socket.close();

      Patience.eventually(() -> connection.unsentBytes() == 0);
    }
  }

  // ---- messages of the maximum length

  private void openEcho(UnaryOperator<WebSocketOptions> options) {
    server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().webSocket("/", connection -> {
      for (var message : connection.messages()) switch (message) {
        case WebSocketMessage.Text(var text) -> connection.textActor().sendMessage(text);
        case WebSocketMessage.Binary(var data) -> connection.binaryActor().sendMessage(data);
      }
    }, options), o -> o);
  }

  @Promise("27.15")
  @Test
  void messagesOfMaxLengthCanBeSentBackByDefault() {
    openEcho(o -> o);
    var ascii = "x".repeat(1_000_000);
    var umlauts = "ä".repeat(500_000);
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      for (int i = 0; i < 20; i++) { // without a pause after an echo
        assertEquals("text " + ascii, peer.text(ascii).next().toString());
        assertEquals("text " + umlauts, peer.text(umlauts).next().toString());
        assertEquals("bytes 1000000", peer.bytes(new byte[1_000_000]).next().toString());
      }
      assertEquals("close 1009", peer.bytes(new byte[1_000_001]).next().toString());
    }
  }

  @Promise("27.15")
  @ParameterizedTest
  @ValueSource(ints = {10, 1_000_000, 3_000_000})
  void twoMessagesOfMaxLengthMayBeUnsent(int maxMessage) {
    var accepted = new CompletableFuture<Boolean>();
    server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().webSocket("/", connection -> {
      var text = "x".repeat(maxMessage);
      accepted.complete(connection.textActor().sendMessages(List.of(text, text)));
      for (var message : connection.messages()) assertTrue(message != null);
    }, o -> o.withMaxMessage(maxMessage)), o -> o);
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      for (int i = 0; i < 2; i++) assertEquals("text " + "x".repeat(maxMessage), peer.next().toString());
      assertTrue(Patience.value(accepted));
    }
  }
}
