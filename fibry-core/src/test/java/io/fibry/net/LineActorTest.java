package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.DeadLetter;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the actors whose messages a connection sends to its client as lines or frames. */
@SuppressWarnings("try") // some clients are opened but not used
class LineActorTest {
  private final ServerScope net = new ServerScope();
  private final CompletableFuture<TcpConnection> connectionFuture = new CompletableFuture<>();

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    net.close();
  }

  private TcpAcceptor open(UnaryOperator<TcpOptions> options) {
    return net.open(connection -> {
      connectionFuture.complete(connection);
      connection.inputStream().transferTo(java.io.OutputStream.nullOutputStream());
    }, options);
  }

  private static TcpConnection value(CompletableFuture<TcpConnection> connectionFuture) {
    return Patience.value(connectionFuture);
  }

  @Promise("25.8")
  @ParameterizedTest
  @MethodSource("strategies")
  void messagesAreSentAsLinesInOrderOfEachSender(String strategy) throws Exception {
    Handler<TcpConnection> handler = connection -> {
      connectionFuture.complete(connection);
      connection.inputStream().read();
    };
    var acceptor =
        TcpAcceptor.open(net.scope.named("chat").strategy(Variants.STRATEGIES.get(strategy)), 0, handler, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = value(connectionFuture).lineActor();
      var senders = new ArrayList<Thread>();
      for (int s = 0; s < 3; s++) {
        int sender = s;
        senders.add(Patience.startFiber(() -> {
          for (int i = 0; i < 300; i++) assertTrue(client.sendMessage(sender + " " + i));
        }));
      }
      senders.forEach(Patience::awaitEnd);
      peer.endOutput(); // the server writes all sent lines before it closes the connection

      var counts = new HashMap<String, Integer>();
      int lines = 0;
      for (var line = peer.readLine(); line != null; line = peer.readLine(), lines++) {
        var parts = line.split(" ");
        int number = Integer.parseInt(parts[1]);
        assertEquals(counts.merge(parts[0], 1, Integer::sum) - 1, number);
      }
      assertEquals(900, lines);
    }
  }

  @Test
  void burstBeyondUnsentLimitEndsLineActorAndConnection() {
    for (int round = 0; round < 30; round++) {
      var exitReason = new CompletableFuture<ExitReason>();
      var acceptor = TcpAcceptor.open(net.scope.anonymous(), 0, connection -> {
        var client = connection.lineActor();
        client.onExit().thenAccept(exitReason::complete);
        var line = "x".repeat(9_999);
        for (int i = 0; i < 100_000 && client.sendMessage(line); i++);
        connection.inputStream().read();
      }, o -> o.withMaxUnsent(20_000));
      try (var peer = new Peer(acceptor.port())) {
        assertInstanceOf(ExitReason.Stopped.class, Patience.value(exitReason));
        peer.awaitClose();
      }
      acceptor.close();
    }
  }

  @Test
  void connectionHasSingleLineActorThatEndsWithConnection() {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = value(connectionFuture).lineActor();
      assertSame(client, value(connectionFuture).lineActor());

      peer.endOutput();

      Patience.awaitEnd(client::waitForExit);
      assertSame(client, value(connectionFuture).lineActor());
      assertFalse(client.sendMessage("too late"));
      assertEquals(List.of("too late"), net.letters.messages(DeadLetter.Reason.DISCONNECTED));
      assertEquals(List.of(), net.scope.deadLetters());
    }
  }

  @Test
  void lineActorOfClosedConnectionHasEnded() {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      value(connectionFuture).close();

      Patience.awaitEnd(value(connectionFuture).lineActor()::waitForExit);
    }
  }

  @Test
  void topicRemovesDisconnectedClient() {
    Topic<String> topic = Topic.open(net.scope.anonymous());
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = value(connectionFuture).lineActor();
      topic.subscribe(client);
      topic.publish("welcome");
      assertEquals("welcome", peer.readLine());

      peer.reset();

      Patience.awaitEnd(client::waitForExit);
      Patience.eventually(() -> {
        int lettersBefore = net.letters.all.size();
        topic.publish("message without reader");
        return net.letters.all.size() == lettersBefore;
      });
    }
  }

  @Promise("25.8")
  @Test
  void slowClientIsCutOffAndItsMessagesAreDeadLetters() {
    var acceptor = open(o -> o.withMaxUnsent(30_000_000));
    try (var peer = new Peer(acceptor.port())) {
      Actor<String> client = value(connectionFuture).lineActor();
      var line = "x".repeat(99_999);

      int sent = 0;
      // sends more bytes than the system buffers for a client that does not read
      while (client.sendMessage(line)) if (++sent == 10_000) break;

      assertTrue(sent < 10_000);
      Patience.awaitEnd(client::waitForExit);
      Patience.eventually(() -> net.letters.all.size() >= 100);
      var causes =
          net.letters.all.stream().flatMap(letter -> letter.cause().stream()).map(Throwable::getMessage).toList();
      assertTrue(causes.stream().anyMatch(text -> text.contains("left more than 30000000 bytes unsent")),
          causes.toString());
      assertTrue(net.letters.all.stream().allMatch(letter -> letter.message().equals(line)));
      peer.awaitClose();
    }
  }

  @Test
  void messageWithLineEndIsDeadLetterAndIsNotWritten() {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = value(connectionFuture).lineActor();

      client.sendMessage("a\nb");
      client.sendMessage("a\rb");
      client.sendMessage("ab");

      assertEquals("ab", peer.readLine());
      assertEquals(List.of("a\nb", "a\rb"), net.letters.messages(DeadLetter.Reason.FAILED));
      assertInstanceOf(IllegalArgumentException.class, net.letters.all.getFirst().cause().orElseThrow());
    }
  }

  @Test
  void messageBeyondUnsentLimitIsDeadLetterAndNextMessageIsSent() {
    var acceptor = open(o -> o.withMaxUnsent(10));
    try (var peer = new Peer(acceptor.port())) {
      var client = value(connectionFuture).lineActor();

      client.sendMessage("ten and more");
      client.sendMessage("nine");

      assertEquals("nine", peer.readLine());
      var cause = net.letters.all.getFirst().cause().orElseThrow();
      assertTrue(cause.getMessage().contains("a message of 13 bytes exceeds the limit of 10 unsent bytes"),
          cause.getMessage());
    }
  }

  @Test
  void emptyLinesCountTowardUnsentLimit() throws Exception {
    var acceptor = open(o -> o.withMaxUnsent(100_000));
    try (var peer = new Peer(acceptor.port())) {
      var connection = value(connectionFuture);
      var failure = new CompletableFuture<IOException>();
      var blockedWriter = Patience.startFiber(
          () -> assertThrows(IOException.class, () -> connection.outputStream().write(new byte[50_000_000])), failure);
      Patience.awaitParked(blockedWriter); // the write blocks, because the client does not read
      var client = connection.lineActor();

      int sent = 0;
      while (!acceptor.connections().isEmpty() && sent < 90_000) {
        client.sendMessage("");
        sent++;
      }

      assertTrue(sent < 90_000);
      Patience.value(failure);
      peer.awaitClose();
    }
  }

  @Test
  void unsentBytesOfWrittenNonAsciiLinesDoNotAccumulate() {
    var acceptor = open(o -> o.withMaxUnsent(100));
    try (var peer = new Peer(acceptor.port())) {
      var client = value(connectionFuture).lineActor();
      for (int i = 0; i < 500; i++) {
        client.sendMessage("äö€😀" + '\ud800'); // half of a surrogate pair, which becomes '?'
        assertEquals("äö€😀?", peer.readLine());
      }
    }
  }

  @Promise("25.14")
  @ParameterizedTest
  @ValueSource(ints = {10, 1_000_000, 3_000_000})
  void twoMessagesOfMaxLengthMayBeUnsent(int maxFrame) {
    for (boolean isLine : new boolean[] {true, false}) {
      var accepted = new CompletableFuture<Boolean>();
      var acceptor = net.open(connection -> {
        var text = "x".repeat(maxFrame);
        accepted.complete(isLine ? connection.lineActor().sendMessages(List.of(text, text))
            : connection.frameActor().sendMessages(List.of(text.getBytes(), text.getBytes())));
        connection.inputStream().read();
      }, o -> o.withMaxFrame(maxFrame));
      try (var peer = new Peer(acceptor.port())) {
        assertTrue(Patience.value(accepted));
        if (isLine) for (int i = 0; i < 2; i++) assertEquals("x".repeat(maxFrame), peer.readLine());
      }
      acceptor.close();
    }
  }

  @Promise("25.14")
  @Test
  void linesOfMaxLengthCanBeSentBackByDefault() {
    var acceptor = net.open(connection -> {
      for (var line : connection.lines()) connection.lineActor().sendMessage(line);
    }, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      for (var line : List.of("x".repeat(1_000_000), "ä".repeat(500_000)))
        for (int i = 0; i < 20; i++) { // without a pause after an echo
          peer.send(line + "\n");
          assertEquals(line, peer.readLine());
        }
    }
  }

  @Test
  void linesOfOutputStreamAndLineActorAreNotInterleaved() throws Exception {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var connection = value(connectionFuture);
      var writer = Patience.startFiber(() -> {
        for (int i = 0; i < 500; i++) connection.lineActor().sendMessage("sent");
      });
      for (int i = 0; i < 500; i++) connection.outputStream().write("written\n".getBytes());
      Patience.awaitEnd(writer);
      peer.endOutput();

      int sent = 0;
      int written = 0;
      for (var line = peer.readLine(); line != null; line = peer.readLine()) {
        if (line.equals("sent")) sent++;
        else if (line.equals("written")) written++;
      }

      assertEquals(List.of(500, 500), List.of(sent, written));
    }
  }

  @Test
  void frameActorSendsEachMessageAsLengthAndBytes() throws Exception {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var connection = value(connectionFuture);
      connection.frameActor().sendMessage(new byte[] {7, 8});
      connection.frameActor().sendMessage(new byte[0]);

      assertArrayEquals(new byte[] {0, 0, 0, 2, 7, 8, 0, 0, 0, 0}, peer.socket.getInputStream().readNBytes(10));
      assertSame(connection.frameActor(), connection.frameActor());
      assertNotEquals((Object) connection.frameActor(), connection.lineActor());
    }
  }

  @Test
  void lineActorIsNamedAfterItsConnection() {
    var acceptor = TcpAcceptor.open(net.scope.named("chat"), 0, connection -> {
      connectionFuture.complete(connection);
      connection.inputStream().read();
    }, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      assertEquals("chat/1/lines", value(connectionFuture).lineActor().name());
    }
  }
}
