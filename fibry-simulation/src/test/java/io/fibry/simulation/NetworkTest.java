package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NetworkTest {
  private static final InetAddress LOCALHOST = InetAddress.getLoopbackAddress();

  private static void simulate(Simulation.Program program) {
    Simulation.run(options -> options.withSeeds(50), program);
  }

  /** Starts a server on the node that sends back all bytes it receives. */
  private static ServerSocket startEcho(Simulation sim, SimulatedNode node) throws IOException {
    var listener = new ServerSocket[1];
    node.start("echo", () -> {
      listener[0] = new ServerSocket(0);
      while (true) {
        var socket = listener[0].accept();
        node.start("conversation", () -> {
          try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
          } catch (SocketException broken) {
            // The client has closed the connection.
          }
          return null;
        });
      }
    });
    while (listener[0] == null) Thread.yield();
    return listener[0];
  }

  private static String sendAndReceive(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    return new String(socket.getInputStream().readNBytes(text.length()), StandardCharsets.US_ASCII);
  }

  @Test
  @Promise("29.13")
  void bytesArriveInOrderAfterLatency() {
    simulate(sim -> {
      sim.network().withLatency(Duration.ofMillis(10), Duration.ofMillis(100)).withFragmentation();
      var node = sim.node("server");
      var server = startEcho(sim, node);
      try (var socket = new Socket(LOCALHOST, server.getLocalPort())) {
        assertEquals("hello, hello, hello", sendAndReceive(socket, "hello, hello, hello"));
      }
      assertTrue(sim.time().toMillis() >= 20, sim.time().toString());
      node.crash();
    });
  }

  @Test
  void portWithoutServerRefusesConnection() {
    simulate(sim -> {
      var refusal = assertThrows(ConnectException.class, () -> new Socket(LOCALHOST, 4_711));
      assertEquals("Connection refused", refusal.getMessage());
    });
  }

  @Test
  void socketTimeoutsFollowSimulatedClock() {
    simulate(sim -> {
      try (var server = new ServerSocket(0); var socket = new Socket(LOCALHOST, server.getLocalPort())) {
        server.setSoTimeout(5_000);
        server.accept();
        assertThrows(SocketTimeoutException.class, server::accept);
        socket.setSoTimeout(10_000);
        assertThrows(SocketTimeoutException.class, () -> socket.getInputStream().read());
        assertEquals(15, sim.time().toSeconds());
      }
    });
  }

  @Test
  @Promise("29.13")
  void partitionDelaysBytesUntilHealed() {
    simulate(sim -> {
      var clientNode = sim.node("one");
      var serverNode = sim.node("two");
      var server = startEcho(sim, serverNode);
      var received = new AtomicInteger();
      clientNode.start("client", () -> {
        try (var socket = new Socket(LOCALHOST, server.getLocalPort())) {
          assertEquals("one", sendAndReceive(socket, "one"));
          sim.network().partition(clientNode, serverNode);
          socket.setSoTimeout(60_000);
          assertThrows(SocketTimeoutException.class, () -> sendAndReceive(socket, "two"));
          assertThrows(SocketTimeoutException.class,
              () -> new Socket().connect(new InetSocketAddress(LOCALHOST, server.getLocalPort()), 1_000));
          sim.network().heal();
          assertEquals("two", new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII));
          received.incrementAndGet();
        }
        return null;
      });
      sim.assertEventually("the client has received all bytes", Duration.ofHours(1), () -> received.get() == 1);
      serverNode.crash();
    });
  }

  @Test
  @Promise("29.13")
  void connectionToCrashedNodeBreaksWhenNodeRestarts() {
    simulate(sim -> {
      var node = sim.node("server");
      var server = startEcho(sim, node);
      try (var socket = new Socket(LOCALHOST, server.getLocalPort())) {
        assertEquals("one", sendAndReceive(socket, "one"));
        node.crash();
        socket.setSoTimeout(60_000);
        assertThrows(SocketTimeoutException.class, () -> sendAndReceive(socket, "two"));
        node.restart();
        assertThrows(SocketException.class, () -> sendAndReceive(socket, "three"));
      }
    });
  }

  @Test
  void disconnectFaultBreaksConnections() {
    var brokenConnections = new AtomicInteger();
    simulate(sim -> {
      sim.faults().withAllKinds();
      sim.network().withDisconnects(0.2);
      var node = sim.node("server");
      var server = startEcho(sim, node);
      try (var socket = new Socket(LOCALHOST, server.getLocalPort())) {
        for (int i = 0; i < 3; i++) sendAndReceive(socket, "hello");
      } catch (SocketException disconnect) {
        brokenConnections.incrementAndGet();
      }
      node.crash();
    });
    assertTrue(brokenConnections.get() > 10 && brokenConnections.get() < 50, brokenConnections + " of 51 runs");
  }

  @Test
  void httpServerLimitsUseSimulatedTime() {
    simulate(sim -> {
      sim.network().withLatency(Duration.ZERO, Duration.ofMillis(200)).withFragmentation();
      try (var server = HttpServer.open(sim.scope().anonymous(), 0,
          HttpRoutes.none().text("GET /hello", exchange -> "hello"), options -> options)) {
        for (int i = 0; i < 3; i++) sim.client("browser" + i, () -> {
          try (var socket = new Socket(LOCALHOST, server.port())) {
            socket.getOutputStream()
                .write(
                    "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            var page = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(page.startsWith("HTTP/1.1 200"), page);
          }
          return null;
        });
        sim.join();
        try (var idleSocket = new Socket(LOCALHOST, server.port())) {
          idleSocket.getOutputStream().write("GET / HT".getBytes(StandardCharsets.US_ASCII));
          long start = System.nanoTime();
          idleSocket.getInputStream().readAllBytes();
          long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
          assertTrue(seconds >= 5 && seconds <= 60, seconds + " s");
        } catch (SocketException reset) {
          // The server may close the connection by a reset instead of an end of the stream.
        }
      }
    });
  }
}
