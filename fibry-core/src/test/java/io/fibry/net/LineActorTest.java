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
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
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

/** A client as an actor to write to. */
@SuppressWarnings("try") // an unused client
class LineActorTest {
  private final ServerScope served = new ServerScope();
  private final CompletableFuture<TcpConnection> connected = new CompletableFuture<>();

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    served.close();
  }

  private TcpAcceptor open(UnaryOperator<TcpOptions> options) {
    return served.open(connection -> {
      connected.complete(connection);
      connection.inputStream().transferTo(java.io.OutputStream.nullOutputStream());
    }, options);
  }

  private static TcpConnection of(CompletableFuture<TcpConnection> connected) {
    return Patience.value(connected);
  }

  @Promise("25.8")
  @ParameterizedTest
  @MethodSource("strategies")
  void eachMessageIsSentAsLineInOrderOfItsSender(String strategy) throws Exception {
    Handler<TcpConnection> handler = connection -> {
      connected.complete(connection);
      connection.inputStream().read();
    };
    var acceptor =
        TcpAcceptor.open(served.scope.named("chat").strategy(Variants.STRATEGIES.get(strategy)), 0, handler, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = of(connected).lineActor();
      var senders = new ArrayList<Thread>();
      for (int s = 0; s < 3; s++) {
        int sender = s;
        senders.add(Patience.startFiber(() -> {
          for (int i = 0; i < 300; i++) assertTrue(client.sendMessage(sender + " " + i));
        }));
      }
      senders.forEach(Patience::joined);
      peer.end(); // the sent lines are written before the close

      var last = new HashMap<String, Integer>();
      int lines = 0;
      for (var line = peer.line(); line != null; line = peer.line(), lines++) {
        var parts = line.split(" ");
        int number = Integer.parseInt(parts[1]);
        assertEquals(last.merge(parts[0], 1, Integer::sum) - 1, number);
      }
      assertEquals(900, lines);
    }
  }

  @Test
  void lineActorIsAlwaysStoppedByTooLargeBurst() {
    for (int round = 0; round < 30; round++) {
      var ends = new CompletableFuture<ExitReason>();
      var acceptor = TcpAcceptor.open(served.scope.anonymous(), 0, connection -> {
        var client = connection.lineActor();
        client.onExit().thenAccept(ends::complete);
        var line = "x".repeat(9_999);
        for (int i = 0; i < 100_000 && client.sendMessage(line); i++);
        connection.inputStream().read();
      }, o -> o.withMaxUnsent(20_000));
      try (var peer = new Peer(acceptor.port())) {
        assertInstanceOf(ExitReason.Stopped.class, Patience.value(ends));
        peer.closed();
      }
      acceptor.close();
    }
  }

  @Test
  void lineActorIsAlwaysTheSameAndEndsWithConnection() {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = of(connected).lineActor();
      assertSame(client, of(connected).lineActor());

      peer.end();

      Patience.ended(client::waitForExit);
      assertSame(client, of(connected).lineActor());
      assertFalse(client.sendMessage("too late"));
      assertEquals(List.of("too late"), served.letters.messages(DeadLetter.Reason.DISCONNECTED));
      assertEquals(List.of(), served.scope.deadLetters());
    }
  }

  @Test
  void lineActorOfClosedConnectionHasEnded() {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      of(connected).close();

      Patience.ended(of(connected).lineActor()::waitForExit);
    }
  }

  @Test
  void aTopicForgetsAClientThatHasGone() {
    Topic<String> room = Topic.open(served.scope.anonymous());
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = of(connected).lineActor();
      room.subscribe(client);
      room.publish("welcome");
      assertEquals("welcome", peer.line());

      peer.reset();

      Patience.ended(client::waitForExit);
      Patience.eventually(() -> {
        int before = served.letters.all.size();
        room.publish("nobody");
        return served.letters.all.size() == before;
      });
    }
  }

  @Promise("25.8")
  @Test
  void slowClientIsCutOffAndItsMessagesAreDeadLetters() {
    var acceptor = open(o -> o.withMaxUnsent(30_000_000));
    try (var peer = new Peer(acceptor.port())) {
      Actor<String> client = of(connected).lineActor();
      var line = "x".repeat(99_999);

      int sent = 0;
      // more than the system buffers for a client that does not read
      while (client.sendMessage(line)) if (++sent == 10_000) break;

      assertTrue(sent < 10_000);
      Patience.ended(client::waitForExit);
      Patience.eventually(() -> served.letters.all.size() >= 100);
      var causes =
          served.letters.all.stream().flatMap(letter -> letter.cause().stream()).map(Throwable::getMessage).toList();
      assertTrue(causes.stream().anyMatch(text -> text.contains("left more than 30000000 bytes unsent")),
          causes.toString());
      assertTrue(served.letters.all.stream().allMatch(letter -> letter.message().equals(line)));
      peer.closed();
    }
  }

  @Test
  void messageWithLineEndIsDeadLetterAndIsNotWritten() {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var client = of(connected).lineActor();

      client.sendMessage("a\nb");
      client.sendMessage("a\rb");
      client.sendMessage("ab");

      assertEquals("ab", peer.line());
      assertEquals(List.of("a\nb", "a\rb"), served.letters.messages(DeadLetter.Reason.FAILED));
      assertInstanceOf(IllegalArgumentException.class, served.letters.all.getFirst().cause().orElseThrow());
    }
  }

  @Test
  void messageBeyondUnsentLimitIsDeadLetterAndHarmsNoOne() {
    var acceptor = open(o -> o.withMaxUnsent(10));
    try (var peer = new Peer(acceptor.port())) {
      var client = of(connected).lineActor();

      client.sendMessage("ten and more");
      client.sendMessage("nine");

      assertEquals("nine", peer.line());
      var cause = served.letters.all.getFirst().cause().orElseThrow();
      assertTrue(cause.getMessage().contains("a message of 13 bytes cannot be sent where 10 may be unsent"),
          cause.getMessage());
    }
  }

  @Test
  void emptyLinesTakeRoomToo() throws Exception {
    var acceptor = open(o -> o.withMaxUnsent(100_000));
    try (var peer = new Peer(acceptor.port())) {
      var connection = of(connected);
      var blocked = Patience.startFiber(
          () -> assertThrows(IOException.class, () -> connection.outputStream().write(new byte[50_000_000])));
      Patience.parked(blocked); // the client does not read, so nothing else is written
      var client = connection.lineActor();

      int sent = 0;
      while (!acceptor.connections().isEmpty() && sent < 90_000) {
        client.sendMessage("");
        sent++;
      }

      assertTrue(sent < 90_000);
      Patience.joined(blocked);
      peer.closed();
    }
  }

  @Test
  void unsentBytesAreCountedExactly() {
    var acceptor = open(o -> o.withMaxUnsent(100));
    try (var peer = new Peer(acceptor.port())) {
      var client = of(connected).lineActor();
      for (int i = 0; i < 500; i++) {
        client.sendMessage("äö€😀" + '\ud800'); // a single surrogate
        assertEquals("äö€😀?", peer.line());
      }
    }
  }

  @Test
  void writtenAndSentLinesAreMixedWhole() throws Exception {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var connection = of(connected);
      var writer = Patience.startFiber(() -> {
        for (int i = 0; i < 500; i++) connection.lineActor().sendMessage("sent");
      });
      for (int i = 0; i < 500; i++) connection.outputStream().write("written\n".getBytes());
      Patience.joined(writer);
      peer.end();

      int sent = 0;
      int written = 0;
      for (var line = peer.line(); line != null; line = peer.line()) {
        if (line.equals("sent")) sent++;
        else if (line.equals("written")) written++;
      }

      assertEquals(List.of(500, 500), List.of(sent, written));
    }
  }

  @Test
  void aFrameIsALengthAndItsBytes() throws Exception {
    var acceptor = open(o -> o);
    try (var peer = new Peer(acceptor.port())) {
      var connection = of(connected);
      connection.frameActor().sendMessage(new byte[] {7, 8});
      connection.frameActor().sendMessage(new byte[0]);

      assertArrayEquals(new byte[] {0, 0, 0, 2, 7, 8, 0, 0, 0, 0}, peer.socket.getInputStream().readNBytes(10));
      assertSame(connection.frameActor(), connection.frameActor());
      assertNotEquals((Object) connection.frameActor(), connection.lineActor());
    }
  }

  @Test
  void lineActorIsNamedAfterItsConnection() {
    var acceptor = TcpAcceptor.open(served.scope.named("chat"), 0, connection -> {
      connected.complete(connection);
      connection.inputStream().read();
    }, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      assertEquals("chat/1/lines", of(connected).lineActor().name());
    }
  }
}
