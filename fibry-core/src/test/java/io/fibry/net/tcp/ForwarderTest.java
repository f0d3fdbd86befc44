package io.fibry.net.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.Peer;
import io.fibry.net.ServerScope;
import io.fibry.net.TcpAcceptor;
import io.fibry.net.TcpConnection;
import io.fibry.net.TcpOptions;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Promise;
import io.fibry.testing.RefusingPort;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
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

@SuppressWarnings("try") // some clients are opened but not used
class ForwarderTest {
  private final ServerScope net = new ServerScope();
  private final CompletableFuture<TcpConnection> targetConnection = new CompletableFuture<>();

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    net.close();
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private TcpAcceptor echo() {
    return net.open(connection -> {
      targetConnection.complete(connection);
      connection.inputStream().transferTo(connection.outputStream());
      connection.outputStream().write("end".getBytes());
    });
  }

  private TcpAcceptor forward(int target, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.forward(net.scope.anonymous(), 0, loopback(target), options);
  }

  @Promise("25.11")
  @ParameterizedTest
  @MethodSource("strategies")
  void bytesAndEndAreForwardedInBothDirections(String strategy) throws Exception {
    var forwarder = TcpAcceptor.forward(net.scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 0,
        loopback(echo().port()), o -> o);
    var sent = new byte[500_000];
    new Random(1).nextBytes(sent);
    try (var peer = new Peer(forwarder.port())) {
      var sender = Patience.startFiber(() -> peer.send(sent).endOutput());

      var echoedBytes = peer.socket.getInputStream().readAllBytes();

      Patience.awaitEnd(sender);
      assertEquals(500_003, echoedBytes.length); // the echo, and the "end" that the target sends after the half-close
      assertTrue(Arrays.equals(sent, 0, 500_000, echoedBytes, 0, 500_000));
    }
    Patience.eventually(() -> forwarder.toString().contains("(1 client, 500000 bytes there, 500003 back)"));
  }

  @Promise("25.11")
  @Test
  void slowReaderHoldsBackSender() {
    var forwarder = forward(echo().port(), o -> o);
    try (var peer = new Peer(forwarder.port())) {
      var sender = Patience.startFiber(() -> {
        try {
          peer.send(new byte[200_000_000]);
        } catch (java.io.UncheckedIOException connectionClosed) {}
      });
      Patience.awaitParked(sender);

      assertTrue(sender.isAlive());
      net.close();
      Patience.awaitEnd(sender);
    }
  }

  @Test
  void refusalByTargetClosesClientAndIsLoggedOncePerMinute() throws Exception {
    try (var deafPort = new RefusingPort();
        var log = new Logged();
        var frozenNet = new ServerScope(o -> o.withScheduler(new ManualScheduler()))) { // so the minute does not end
      var forwarder = TcpAcceptor.forward(frozenNet.scope.anonymous(), 0, loopback(deafPort.number()),
          o -> o.withMaxConnections(1));

      for (int i = 0; i < 20; i++) {
        try (var peer = new Peer(forwarder.port())) {
          assertEquals("", peer.readToEnd());
        }
      }

      assertEquals(1, log.entriesAbout(":" + deafPort.number()).lines().count(), log.text());
      assertTrue(log.text().contains("cannot be reached: Connection refused"), log.text());
    }
  }

  @Test
  void resetOfClientClosesConnectionToTarget() {
    var forwarder = forward(echo().port(), o -> o);
    var peer = new Peer(forwarder.port()).send("x");
    Patience.value(targetConnection);

    peer.reset();

    Patience.eventually(() -> forwarder.connections().isEmpty());
    Patience.eventually(() -> ((ClientConnection) Patience.value(targetConnection)).socket.isClosed());
  }

  @Promise("25.11")
  @Test
  void targetReadsErrorAfterResetOfClient() {
    var outcome = new CompletableFuture<String>();
    var target = net.open(connection -> {
      targetConnection.complete(connection);
      try {
        connection.inputStream().transferTo(OutputStream.nullOutputStream());
        outcome.complete("an end");
      } catch (IOException failure) {
        outcome.complete("a break");
      }
    });
    var peer = new Peer(forward(target.port(), o -> o).port()).send("half of an upl");
    Patience.value(targetConnection);

    peer.reset();

    assertEquals("a break", Patience.value(outcome));
  }

  @Test
  void killOfTargetClosesConnectionToClient() {
    var target = echo();
    var forwarder = forward(target.port(), o -> o);
    try (var peer = new Peer(forwarder.port()).send("x")) {
      Patience.value(targetConnection);

      target.kill();

      peer.awaitClose();
      peer.endOutput(); // the forwarder closes the connection when the client's output has ended, too
      Patience.eventually(() -> forwarder.connections().isEmpty());
    }
  }

  @Test
  void killOfForwarderClosesClientAndTarget() {
    var forwarder = forward(echo().port(), o -> o);
    try (var peer = new Peer(forwarder.port()).send("x")) {
      Patience.value(targetConnection);

      forwarder.kill();

      Patience.awaitEnd(forwarder::waitForExit);
      peer.awaitClose();
      Patience.eventually(() -> ((ClientConnection) Patience.value(targetConnection)).socket.isClosed());
    }
  }

  @Test
  void forwardedConnectionIsIdleOnlyIfNeitherSideSends() throws Exception {
    var clock = new Clock();
    try (var clockScope = new ServerScope(o -> o.withScheduler(clock))) {
      var forwarder = TcpAcceptor.forward(clockScope.scope.anonymous(), 0, loopback(echo().port()),
          o -> o.withIdleLimit(Duration.ofSeconds(60)).withWriteLimit(Duration.ofHours(1)));
      try (var peer = new Peer(forwarder.port())) {
        assertEquals('x', peer.send("x").socket.getInputStream().read());
        for (int i = 0; i < 4; i++) {
          clock.manual.advance(Duration.ofSeconds(40));
          Patience.value(targetConnection).outputStream().write('y'); // only the target sends, and the client does not
          assertEquals('y', peer.socket.getInputStream().read());
        }
        assertEquals(1, forwarder.connections().size());

        Patience.eventually(() -> {
          clock.manual.advance(Duration.ofSeconds(1));
          return forwarder.connections().isEmpty();
        });

        peer.awaitClose();
      }
    }
  }

  @Test
  void invalidTargetIsRefused() throws IOException {
    var failure = Assertions.assertThrows(IllegalArgumentException.class, () -> forward(0, o -> o));

    assertTrue(failure.getMessage().contains("nothing can be forwarded to port 0"), failure.getMessage());
    assertEquals("target", Assertions
        .assertThrows(NullPointerException.class, () -> TcpAcceptor.forward(net.scope.anonymous(), 0, null, o -> o))
        .getMessage());
  }

  @Test
  void hostNameOfTargetIsResolvedWhenClientConnects() throws Exception {
    var forwarder = TcpAcceptor.forward(net.scope.anonymous(), 0,
        InetSocketAddress.createUnresolved("localhost", echo().port()), o -> o);
    try (var peer = new Peer(forwarder.port())) {
      assertEquals("end", peer.endOutput().readToEnd());
    }
  }

  @Test
  void askExitOfForwarderLetsTargetRespond() {
    var forwarder = forward(echo().port(), o -> o.withDrainLimit(Patience.LONG));
    try (var peer = new Peer(forwarder.port())) {
      Patience.value(targetConnection);

      forwarder.askExit();

      assertEquals("end", peer.readToEnd()); // the target has read the end, and responded
      Patience.awaitEnd(forwarder::waitForExit);
    }
  }
}
