package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Clock;
import io.fibry.DeafPort;
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@SuppressWarnings("try") // an unused client
class ForwarderTest {
  private final ServerScope served = new ServerScope();
  private final CompletableFuture<TcpConnection> reached = new CompletableFuture<>();

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    served.close();
  }

  private static InetSocketAddress at(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private TcpAcceptor echo() {
    return served.open(connection -> {
      reached.complete(connection);
      connection.inputStream().transferTo(connection.outputStream());
      connection.outputStream().write("end".getBytes());
    });
  }

  private TcpAcceptor forward(int target, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.forward(served.scope.anonymous(), 0, at(target), options);
  }

  @Promise("25.11")
  @ParameterizedTest
  @MethodSource("strategies")
  void bytesAndEndAreForwardedInBothDirections(String strategy) throws Exception {
    var forwarder = TcpAcceptor.forward(served.scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 0,
        at(echo().port()), o -> o);
    var sent = new byte[500_000];
    new Random(1).nextBytes(sent);
    try (var peer = new Peer(forwarder.port())) {
      var sender = Patience.startFiber(() -> peer.send(sent).end());

      var back = peer.socket.getInputStream().readAllBytes();

      Patience.joined(sender);
      assertEquals(500_003, back.length); // with the answer to the half-close
      assertTrue(Arrays.equals(sent, 0, 500_000, back, 0, 500_000));
    }
    Patience.eventually(() -> forwarder.toString().contains("(1 clients, 500000 bytes there, 500003 back)"));
  }

  @Promise("25.11")
  @Test
  void slowReaderHoldsBackSender() {
    var forwarder = forward(echo().port(), o -> o);
    try (var peer = new Peer(forwarder.port())) {
      var sender = Patience.startFiber(() -> {
        try {
          peer.send(new byte[200_000_000]);
        } catch (java.io.UncheckedIOException closed) {}
      });
      Patience.parked(sender);

      assertTrue(sender.isAlive());
      served.close();
      Patience.joined(sender);
    }
  }

  @Test
  void refusedTargetClosesClientAndIsLoggedOncePerMinute() throws Exception {
    try (var deaf = new DeafPort(); var log = new Logged()) {
      var forwarder = forward(deaf.number(), o -> o.withMaxConnections(1));

      for (int i = 0; i < 20; i++) {
        try (var peer = new Peer(forwarder.port())) {
          assertEquals("", peer.rest());
        }
      }

      assertEquals(1, log.about(":" + deaf.number()).lines().count(), log.text());
      assertTrue(log.text().contains("cannot be reached: Connection refused"), log.text());
    }
  }

  @Test
  void aClientThatIsKilledEndsTheOtherSide() {
    var forwarder = forward(echo().port(), o -> o);
    var peer = new Peer(forwarder.port()).send("x");
    Patience.value(reached);

    peer.reset();

    Patience.eventually(() -> forwarder.connections().isEmpty());
    Patience.eventually(() -> ((ClientConnection) Patience.value(reached)).socket.isClosed());
  }

  @Promise("25.11")
  @Test
  void aClientThatBreaksOffLooksBrokenToTheTarget() {
    var seen = new CompletableFuture<String>();
    var target = served.open(connection -> {
      reached.complete(connection);
      try {
        connection.inputStream().transferTo(OutputStream.nullOutputStream());
        seen.complete("an end");
      } catch (IOException broken) {
        seen.complete("a break");
      }
    });
    var peer = new Peer(forward(target.port(), o -> o).port()).send("half of an upl");
    Patience.value(reached);

    peer.reset();

    assertEquals("a break", Patience.value(seen));
  }

  @Test
  void aTargetThatIsKilledEndsTheClient() {
    var target = echo();
    var forwarder = forward(target.port(), o -> o);
    try (var peer = new Peer(forwarder.port()).send("x")) {
      Patience.value(reached);

      target.kill();

      peer.closed();
      peer.end(); // the target could still answer
      Patience.eventually(() -> forwarder.connections().isEmpty());
    }
  }

  @Test
  void killEndsBothSides() {
    var forwarder = forward(echo().port(), o -> o);
    try (var peer = new Peer(forwarder.port()).send("x")) {
      Patience.value(reached);

      forwarder.kill();

      Patience.ended(forwarder::waitForExit);
      peer.closed();
      Patience.eventually(() -> ((ClientConnection) Patience.value(reached)).socket.isClosed());
    }
  }

  @Test
  void connectionIsIdleWhenNeitherSideSends() throws Exception {
    var clock = new Clock();
    try (var mine = new ServerScope(o -> o.withScheduler(clock))) {
      var forwarder = TcpAcceptor.forward(mine.scope.anonymous(), 0, at(echo().port()),
          o -> o.withIdleLimit(Duration.ofSeconds(60)).withWriteLimit(Duration.ofHours(1)));
      try (var peer = new Peer(forwarder.port())) {
        assertEquals('x', peer.send("x").socket.getInputStream().read());
        for (int i = 0; i < 4; i++) {
          clock.manual.advance(Duration.ofSeconds(40));
          Patience.value(reached).outputStream().write('y'); // from the target only
          assertEquals('y', peer.socket.getInputStream().read());
        }
        assertEquals(1, forwarder.connections().size());

        Patience.eventually(() -> {
          clock.manual.advance(Duration.ofSeconds(1));
          return forwarder.connections().isEmpty();
        });

        peer.closed();
      }
    }
  }

  @Test
  void badInputIsRefusedWithWhatToDo() throws IOException {
    var refused = Assertions.assertThrows(IllegalArgumentException.class, () -> forward(0, o -> o));

    assertTrue(refused.getMessage().contains("nothing can be forwarded to port 0"), refused.getMessage());
    assertEquals("target", Assertions
        .assertThrows(NullPointerException.class, () -> TcpAcceptor.forward(served.scope.anonymous(), 0, null, o -> o))
        .getMessage());
  }

  @Test
  void aTargetWithoutAnAddressIsLookedUpForEachClient() throws Exception {
    var forwarder = TcpAcceptor.forward(served.scope.anonymous(), 0,
        InetSocketAddress.createUnresolved("localhost", echo().port()), o -> o);
    try (var peer = new Peer(forwarder.port())) {
      assertEquals("end", peer.end().rest());
    }
  }

  @Test
  void forwarderIsDrainedLikeAcceptor() {
    var forwarder = forward(echo().port(), o -> o.withDrainLimit(Patience.LONG));
    try (var peer = new Peer(forwarder.port())) {
      Patience.value(reached);

      forwarder.askExit();

      assertEquals("end", peer.rest()); // the target saw the end, and answered
      Patience.ended(forwarder::waitForExit);
    }
  }
}
