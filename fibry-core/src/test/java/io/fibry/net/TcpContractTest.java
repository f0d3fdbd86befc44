package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests a TCP acceptor on every strategy. */
class TcpContractTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("net", o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofMillis(200)));
  private TcpAcceptor acceptor;

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private TcpAcceptor open(String strategy, Handler<TcpConnection> handler) {
    return open(strategy, handler, o -> o.withDrainLimit(Patience.LONG));
  }

  private TcpAcceptor open(String strategy, Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return acceptor =
        TcpAcceptor.open(scope.named("server").strategy(Variants.STRATEGIES.get(strategy)), 0, handler, options);
  }

  private static void echo(TcpConnection connection) throws Exception {
    for (var line : connection.lines()) connection.outputStream().write((line + "\n").getBytes());
  }

  private void assertNothingIsLeft() {
    assertEquals(List.of(), List.copyOf(acceptor.connections()));
    assertFalse(Descriptors.isListeningIfShown(acceptor.port()));
    Patience.eventually(
        () -> Thread.getAllStackTraces().keySet().stream().noneMatch(thread -> thread.getName().startsWith("server")));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void successiveClientsAreServed(String strategy) {
    open(strategy, TcpContractTest::echo);

    for (int i = 0; i < 5; i++) {
      try (var peer = new Peer(acceptor.port())) {
        peer.send("one\ntw").send("o\n").endOutput();

        assertEquals("one\ntwo\n", peer.readToEnd());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void failingHandlerClosesOnlyItsConnection(String strategy) {
    open(strategy, connection -> {
      if (connection.inputStream().read() == 'x') throw new AssertionError("thrown by a test");
      connection.outputStream().write('k');
    });
    try (var failingPeer = new Peer(acceptor.port()).send("x")) {
      assertEquals("", failingPeer.readToEnd());
    }

    try (var goodPeer = new Peer(acceptor.port()).send("g")) {
      assertEquals("k", goodPeer.readToEnd());
    }
    Patience.eventually(() -> letters.all.size() == 1);
    assertEquals("thrown by a test", letters.all.getFirst().cause().orElseThrow().getMessage());
    assertInstanceOf(TcpConnection.class, letters.all.getFirst().message());
  }

  @Promise("25.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeLetsConversationsFinish(String strategy) {
    open(strategy, TcpContractTest::echo);
    try (var peer = new Peer(acceptor.port()).send("one\n")) {
      assertEquals("one", peer.readLine());

      acceptor.sendPoisonPill();
      peer.send("two\n");

      assertEquals("two", peer.readLine());
      assertFalse(acceptor.waitForExit(Duration.ofMillis(1)));
      peer.endOutput();
      assertNull(peer.readLine());
      Patience.awaitEnd(acceptor::waitForExit);
    }
    assertNothingIsLeft();
    assertInstanceOf(ExitReason.Finished.class, Patience.value(acceptor.onExit()));
  }

  @Promise("25.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeCutsOffConversationsThatExceedDrainLimit(String strategy) {
    open(strategy, TcpContractTest::echo, o -> o.withDrainLimit(Duration.ofMillis(50)));
    try (var peer = new Peer(acceptor.port()).send("one\n")) {
      assertEquals("one", peer.readLine());

      acceptor.close();

      peer.awaitClose();
    }
    assertNothingIsLeft();
  }

  @Promise("25.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void conversationsReadEndOfInputAfterAskExitOfAcceptor(String strategy) {
    open(strategy, connection -> {
      echo(connection);
      connection.outputStream().write("bye\n".getBytes());
    });
    try (var peer = new Peer(acceptor.port()).send("one\n")) {
      assertEquals("one", peer.readLine());

      acceptor.askExit();

      assertEquals("bye", peer.readLine());
      Patience.awaitEnd(acceptor::waitForExit);
    }
    assertNothingIsLeft();
    assertInstanceOf(ExitReason.Stopped.class, Patience.value(acceptor.onExit()));
  }

  @Promise("25.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void killClosesConnectionsImmediately(String strategy) {
    open(strategy, TcpContractTest::echo);
    try (var peer = new Peer(acceptor.port()).send("one\n")) {
      assertEquals("one", peer.readLine());

      acceptor.kill();

      peer.awaitClose();
      Patience.awaitEnd(acceptor::waitForExit);
    }
    assertNothingIsLeft();
    assertInstanceOf(ExitReason.Killed.class, Patience.value(acceptor.onExit()));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void closingScopeEndsAcceptorAndConnections(String strategy) {
    open(strategy, TcpContractTest::echo);
    try (var peer = new Peer(acceptor.port()).send("one\n")) {
      assertEquals("one", peer.readLine());

      scope.closeWithin(Duration.ofMillis(20));

      peer.awaitClose();
      Patience.awaitEnd(acceptor::waitForExit);
    }
    assertNothingIsLeft();
  }

  @Promise("25.2")
  @ParameterizedTest
  @MethodSource("strategies")
  void openConnectionsAreLimited(String strategy) {
    open(strategy, TcpContractTest::echo, o -> o.withMaxConnections(1));
    try (var first = new Peer(acceptor.port()).send("one\n"); var second = new Peer(acceptor.port()).send("two\n")) {
      assertEquals("one", first.readLine());
      assertEquals(1, acceptor.connections().size());

      first.endOutput();

      assertNull(first.readLine());
      assertEquals("two", second.readLine());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void connectionsListsOpenConnections(String strategy) {
    open(strategy, TcpContractTest::echo);
    assertTrue(acceptor.connections().isEmpty());
    try (var peer = new Peer(acceptor.port()).send("one\n")) {
      peer.readLine();

      var connection = acceptor.connections().iterator().next();

      assertEquals(peer.socket.getLocalPort(), connection.remoteAddress().getPort());
      connection.close();
      assertTrue(acceptor.connections().isEmpty());
      peer.awaitClose();
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void closeOnExitRunsAfterLastConversation(String strategy) {
    var gate = new Gate();
    var closed = new java.util.concurrent.atomic.AtomicBoolean();
    open(strategy, connection -> {
      gate.passUninterruptibly();
      if (closed.get()) throw new AssertionError("closed too early");
      connection.outputStream().write('k');
    });
    acceptor.closeOnExit(() -> closed.set(true));
    try (var peer = new Peer(acceptor.port())) {
      Patience.await(gate.entered);

      acceptor.sendPoisonPill();
      assertFalse(acceptor.waitForExit(Duration.ofMillis(20)));
      gate.open();

      assertEquals("k", peer.readToEnd());
      Patience.awaitEnd(acceptor::waitForExit);
      assertTrue(closed.get());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void acceptorCloseInHandlerDoesNotWaitForThatHandler(String strategy) {
    open(strategy, connection -> {
      acceptor.close();
      connection.outputStream().write('k');
    });
    try (var peer = new Peer(acceptor.port())) {
      assertEquals("k", peer.readToEnd());
    }
    Patience.awaitEnd(acceptor::waitForExit);
  }
}
