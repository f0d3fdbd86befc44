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
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  private static void simulate(Simulation.Program program) {
    Simulation.run(options -> options.withSeeds(50), program);
  }

  /** Sends back the bytes that it gets, until the end. */
  private static ServerSocket echo(Simulation sim, SimulatedNode node) throws IOException {
    var listener = new ServerSocket[1];
    node.start("echo", () -> {
      listener[0] = new ServerSocket(0);
      while (true) {
        var socket = listener[0].accept();
        node.start("conversation", () -> {
          try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
          } catch (SocketException broken) {
            // the client is gone
          }
          return null;
        });
      }
    });
    while (listener[0] == null) Thread.yield();
    return listener[0];
  }

  private static String talk(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    return new String(socket.getInputStream().readNBytes(text.length()), StandardCharsets.US_ASCII);
  }

  @Test
  @Promise("29.13")
  void bytesArriveInOrderAndTakeTheirTime() {
    simulate(sim -> {
      sim.network().withLatency(Duration.ofMillis(10), Duration.ofMillis(100)).withFragmentation();
      var node = sim.node("server");
      var server = echo(sim, node);
      try (var socket = new Socket(HERE, server.getLocalPort())) {
        assertEquals("hello, hello, hello", talk(socket, "hello, hello, hello"));
      }
      assertTrue(sim.time().toMillis() >= 20, sim.time().toString());
      node.crash();
    });
  }

  @Test
  void aPortWithoutAServerRefuses() {
    simulate(sim -> {
      var refused = assertThrows(ConnectException.class, () -> new Socket(HERE, 4_711));
      assertEquals("Connection refused", refused.getMessage());
    });
  }

  @Test
  void limitsOfSocketsFollowTheClock() {
    simulate(sim -> {
      try (var server = new ServerSocket(0); var socket = new Socket(HERE, server.getLocalPort())) {
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
  void partedNodesHearNothingAndThenAllAtOnce() {
    simulate(sim -> {
      var one = sim.node("one");
      var two = sim.node("two");
      var server = echo(sim, two);
      var heard = new AtomicInteger();
      one.start("client", () -> {
        try (var socket = new Socket(HERE, server.getLocalPort())) {
          assertEquals("one", talk(socket, "one"));
          sim.network().partition(one, two);
          socket.setSoTimeout(60_000);
          assertThrows(SocketTimeoutException.class, () -> talk(socket, "two"));
          assertThrows(SocketTimeoutException.class,
              () -> new Socket().connect(new InetSocketAddress(HERE, server.getLocalPort()), 1_000));
          sim.network().heal();
          assertEquals("two", new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII));
          heard.incrementAndGet();
        }
        return null;
      });
      sim.assertEventually("heard", Duration.ofHours(1), () -> heard.get() == 1);
      two.crash();
    });
  }

  @Test
  @Promise("29.13")
  void connectionsToACrashedNodeAreSilentAndBreakWhenItIsBack() {
    simulate(sim -> {
      var node = sim.node("server");
      var server = echo(sim, node);
      try (var socket = new Socket(HERE, server.getLocalPort())) {
        assertEquals("one", talk(socket, "one"));
        node.crash();
        socket.setSoTimeout(60_000);
        assertThrows(SocketTimeoutException.class, () -> talk(socket, "two"));
        node.restart();
        assertThrows(SocketException.class, () -> talk(socket, "three"));
      }
    });
  }

  @Test
  void cutsBreakConnections() {
    var broken = new AtomicInteger();
    simulate(sim -> {
      sim.faults().withAllKinds();
      sim.network().withDisconnects(0.2);
      var node = sim.node("server");
      var server = echo(sim, node);
      try (var socket = new Socket(HERE, server.getLocalPort())) {
        for (int i = 0; i < 3; i++) talk(socket, "hello");
      } catch (SocketException cut) {
        broken.incrementAndGet();
      }
      node.crash();
    });
    assertTrue(broken.get() > 10 && broken.get() < 50, broken + " of 51");
  }

  @Test
  void httpServerLimitsUseSimulatedTime() {
    simulate(sim -> {
      sim.network().withLatency(Duration.ZERO, Duration.ofMillis(200)).withFragmentation();
      try (var server = HttpServer.open(sim.scope().anonymous(), 0,
          HttpRoutes.none().text("GET /hello", exchange -> "hello"), same -> same)) {
        for (int i = 0; i < 3; i++) sim.client("browser" + i, () -> {
          try (var socket = new Socket(HERE, server.port())) {
            socket.getOutputStream()
                .write(
                    "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            var page = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(page.startsWith("HTTP/1.1 200"), page);
          }
          return null;
        });
        sim.join();
        try (var silent = new Socket(HERE, server.port())) {
          silent.getOutputStream().write("GET / HT".getBytes(StandardCharsets.US_ASCII));
          long began = System.nanoTime();
          silent.getInputStream().readAllBytes();
          long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
          assertTrue(seconds >= 5 && seconds <= 60, seconds + " s");
        } catch (SocketException reset) {
          // as good as an end
        }
      }
    });
  }
}
