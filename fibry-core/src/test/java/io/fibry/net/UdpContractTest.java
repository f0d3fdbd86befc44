package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.support.Patience;
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

/** What a UDP server does on every strategy. */
class UdpContractTest {
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofMillis(50)));
  private final List<Object> seen = new CopyOnWriteArrayList<>();
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
  void handsOverWhatComesInItsOrder(String strategy) {
    var server = server(strategy, (self, packet) -> seen.add(UdpPeer.text(packet)));
    var all = new ArrayList<Object>();

    for (int i = 0; i < 50; i++) {
      all.add("packet " + i);
      peer.send(server.port(), "packet " + i);
    }
    Patience.eventually(() -> seen.size() == 50);

    assertEquals(all, seen);
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
  void aFailingHandlerHarmsOnlyItsPacket(String strategy) {
    var server = server(strategy, (self, packet) -> {
      if (UdpPeer.text(packet).equals("bad")) throw new IllegalStateException("no");
      seen.add(UdpPeer.text(packet));
    });

    peer.send(server.port(), "bad");
    peer.send(server.port(), "good");
    Patience.eventually(() -> seen.equals(List.of("good")));

    assertEquals(1, letters.messages(Reason.FAILED).size());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void closeHandlesWaitingPacketsWhichMayStillReply(String strategy) {
    var gate = new Gate();
    var server = server(strategy, (self, packet) -> {
      gate.pass();
      self.reply(packet, packet.data());
    });
    peer.send(server.port(), "first");
    Patience.await(gate.entered);

    var closing = Patience.startFiber(server::close);
    gate.open();
    Patience.joined(closing);

    assertEquals("first", peer.receive());
    assertEquals(new ExitReason.Finished(), server.onExit().resultNow());
  }

  @Promise("26.4")
  @ParameterizedTest
  @MethodSource("strategies")
  void askExitEndsAnIdleServerAtOnceAndFreesItsPort(String strategy) {
    var server = server(strategy, (self, packet) -> {});

    server.askExit();
    Patience.ended(server::waitForExit);

    assertEquals(new ExitReason.Stopped(), server.onExit().resultNow());
    assertDoesNotThrow(() -> UdpServer.open(scope.anonymous(), server.port(), (self, packet) -> {}, o -> o).close());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askExitEndsAfterThePacketAtHand(String strategy) {
    var gate = new Gate();
    var server = server(strategy, (self, packet) -> {
      gate.pass();
      seen.add(UdpPeer.text(packet));
    });
    peer.send(server.port(), "first");
    Patience.await(gate.entered);
    peer.send(server.port(), "second");

    server.askExit();
    gate.open();
    Patience.ended(server::waitForExit);

    assertEquals(List.of("first"), seen);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void killEndsAHandlerThatDoesNotEnd(String strategy) {
    var gate = new Gate();
    var server = server(strategy, (self, packet) -> gate.passDeaf());
    peer.send(server.port(), "first");
    Patience.await(gate.entered);

    server.kill();
    Patience.ended(server::waitForExit);

    assertEquals(new ExitReason.Killed(), server.onExit().resultNow());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void handlerMayEndItsServer(String strategy) {
    var server = server(strategy, (self, packet) -> self.close());

    peer.send(server.port(), "go");
    Patience.ended(server::waitForExit);

    assertEquals(new ExitReason.Finished(), server.onExit().resultNow());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void serverEndsWithItsScope(String strategy) {
    var server = server(strategy, (self, packet) -> seen.add(UdpPeer.text(packet)));
    peer.send(server.port(), "before");
    Patience.eventually(() -> seen.size() == 1);

    scope.closeWithin(Patience.LONG);

    assertFalse(server.onExit().resultNow() instanceof ExitReason.Failed);
    assertThrows(SocketException.class, () -> server.send(peer.address(), new byte[1]));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void anIdleServerLeavesItsScopeQuiet(String strategy) {
    var server = server(strategy, (self, packet) -> seen.add(UdpPeer.text(packet)));
    peer.send(server.port(), "before");
    Patience.eventually(() -> seen.size() == 1);

    assertDoesNotThrow(() -> scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, scope.report().handled());
  }
}
