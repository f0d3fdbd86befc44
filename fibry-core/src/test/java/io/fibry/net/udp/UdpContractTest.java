package io.fibry.net.udp;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.net.UdpPacket;
import io.fibry.net.UdpServer;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests a UDP server on every strategy. */
class UdpContractTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofMillis(50)));
  private final List<Object> received = new CopyOnWriteArrayList<>();
  private final UdpPeer peer = new UdpPeer();

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  private UdpServer server(String strategy, Handler.Stateful<UdpServer, UdpPacket> handler) {
    return UdpServer.open(
        scope.named("udp").strategy(Variants.STRATEGIES.get(strategy)).onFailure(FailurePolicy.resume().withoutLog()),
        0,
        handler, UnaryOperator.identity());
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
    peer.close();
  }

  @Promise("26.1")
  @ParameterizedTest
  @MethodSource("strategies")
  void packetsAreHandledInOrderOfArrival(String strategy) {
    var server = server(strategy, (self, packet) -> received.add(UdpPeer.text(packet)));
    var expected = new ArrayList<Object>();

    for (int i = 0; i < 50; i++) {
      expected.add("packet " + i);
      peer.send(server.port(), "packet " + i);
    }
    Patience.eventually(() -> received.size() == 50);

    assertEquals(expected, received);
    assertEquals(0, server.dropped());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void handlerRepliesToSender(String strategy) {
    var server = server(strategy, (self, packet) -> self.reply(packet, packet.data()));

    peer.send(server.port(), "hello");

    assertEquals("hello", peer.receive());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void failingHandlerLosesOnlyItsPacket(String strategy) {
    var server = server(strategy, (self, packet) -> {
      if (UdpPeer.text(packet).equals("bad")) throw new IllegalStateException("no");
      received.add(UdpPeer.text(packet));
    });

    peer.send(server.port(), "bad");
    peer.send(server.port(), "good");
    Patience.eventually(() -> received.equals(List.of("good")));

    assertEquals(1, letters.messages(Reason.FAILED).size());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void handlerMayReplyWhileServerCloses(String strategy) {
    var gate = new Gate();
    var server = server(strategy, (self, packet) -> {
      gate.pass();
      self.reply(packet, packet.data());
    });
    peer.send(server.port(), "first");
    Patience.await(gate.entered);

    var closingThread = Patience.startFiber(server::close);
    gate.open();
    Patience.awaitEnd(closingThread);

    assertEquals("first", peer.receive());
    assertEquals(new ExitReason.Finished(), server.onExit().resultNow());
  }

  @Promise("26.4")
  @ParameterizedTest
  @MethodSource("strategies")
  void askExitEndsIdleServerAndFreesItsPort(String strategy) {
    var server = server(strategy, (self, packet) -> {});

    server.askExit();
    Patience.awaitEnd(server::waitForExit);

    assertEquals(new ExitReason.Stopped(), server.onExit().resultNow());
    assertFalse(Descriptors.isListeningIfShown(server.port()));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askExitEndsServerAfterCurrentPacket(String strategy) {
    var gate = new Gate();
    var server = server(strategy, (self, packet) -> {
      gate.pass();
      received.add(UdpPeer.text(packet));
    });
    peer.send(server.port(), "first");
    Patience.await(gate.entered);
    peer.send(server.port(), "second");

    server.askExit();
    gate.open();
    Patience.awaitEnd(server::waitForExit);

    assertEquals(List.of("first"), received);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void killEndsServerWithStuckHandler(String strategy) {
    var gate = new Gate();
    var server = server(strategy, (self, packet) -> gate.passUninterruptibly());
    peer.send(server.port(), "first");
    Patience.await(gate.entered);

    server.kill();
    Patience.awaitEnd(server::waitForExit);

    assertEquals(new ExitReason.Killed(), server.onExit().resultNow());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void handlerMayEndItsServer(String strategy) {
    var server = server(strategy, (self, packet) -> self.close());

    peer.send(server.port(), "go");
    Patience.awaitEnd(server::waitForExit);

    assertEquals(new ExitReason.Finished(), server.onExit().resultNow());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void serverEndsWithItsScope(String strategy) {
    var server = server(strategy, (self, packet) -> received.add(UdpPeer.text(packet)));
    peer.send(server.port(), "before");
    Patience.eventually(() -> received.size() == 1);

    scope.closeWithin(Patience.LONG);

    assertFalse(server.onExit().resultNow() instanceof ExitReason.Failed);
    assertThrows(SocketException.class, () -> server.send(peer.address(), new byte[1]));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void idleServerLeavesScopeQuiescent(String strategy) {
    var server = server(strategy, (self, packet) -> received.add(UdpPeer.text(packet)));
    peer.send(server.port(), "before");
    Patience.eventually(() -> received.size() == 1);

    assertDoesNotThrow(() -> scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, scope.report().handled());
  }
}
