package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StackEdge;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that no connection stays open if its handler overflows the stack while it writes. Each case
 * has its own JVM, because of an error of Java 21. There a fiber that waits for its socket and
 * overflows its stack can end the JDK thread that wakes all such fibers. The cause is a socket that
 * is closed before it is registered.
 */
class TcpStackEdgeJvmTest {
  private static final int ROUNDS = Soak.ON ? 500 : 4;

  private enum Edge {
    ON_FIBER, ON_THREAD, WHILE_OTHERS_WAIT, IN_WRITE
  }

  /** Runs the case that the first argument names. */
  static final class Case {
    public static void main(String[] args) throws Exception {
      switch (Edge.valueOf(args[0])) {
        case ON_FIBER -> connectionIsClosedAfterStackOverflow(true);
        case ON_THREAD -> connectionIsClosedAfterStackOverflow(false);
        case WHILE_OTHERS_WAIT -> writerThatCannotParkBlocksNoOtherWriter();
        case IN_WRITE -> writeThatFailsWithErrorClosesConnection();
      }
      System.exit(0);
    }

    private static void connectionIsClosedAfterStackOverflow(boolean onFiber) throws Exception {
      for (int i = 0; i < ROUNDS; i++) {
        var scope = ActorSystem.openScope("edge", o -> o.withKillGrace(Duration.ofMillis(200)));
        var builder = scope.anonymous().strategy(onFiber ? Strategy.FIBER : Strategy.THREAD)
            .onFailure(FailurePolicy.resume().withoutLog());
        var server = TcpAcceptor.open(builder, 0, connection -> {
          var lines = connection.lineActor(); // writes in parallel with the handler
          Thread.ofPlatform().daemon().start(() -> {
            for (int line = 0; line < 2_000; line++) lines.sendMessage("x");
          });
          descend(connection.outputStream(), 0);
        }, o -> o.withDrainLimit(Duration.ofMillis(200)));

        try (var client = new Socket("localhost", server.port())) {
          // if the connection stays open for so long, the read throws, and the test fails
          client.setSoTimeout((int) Patience.LONG.toMillis());
          readToEnd(client);
        }

        assertEquals(List.of(), scope.closeWithin(Patience.LONG).unresponsive());
      }
    }

    private static void writerThatCannotParkBlocksNoOtherWriter() throws Exception {
      var scope = ActorSystem.openScope("edge");
      var block = new byte[64 << 20]; // larger than the socket buffers
      var writersWait = new CountDownLatch(1);
      var server = TcpAcceptor.open(scope.anonymous().strategy(Strategy.THREAD), 0, connection -> {
        var out = connection.outputStream();
        var firstWriter = start(() -> out.write(block));
        Patience.awaitParked(firstWriter);
        StackEdge.runWhereParkFails(() -> assertThrows(StackOverflowError.class, () -> out.write(1)));
        var lastWriter = start(() -> out.write(2));
        Patience.awaitParked(lastWriter);
        writersWait.countDown();
        Patience.awaitEnd(firstWriter);
        Patience.awaitEnd(lastWriter);
      }, o -> o);

      try (var client = new Socket("localhost", server.port())) {
        client.setSoTimeout((int) Patience.LONG.toMillis());
        Patience.await(writersWait);

        var bytes = client.getInputStream().readAllBytes();

        assertEquals(block.length + 1, bytes.length);
        assertEquals(2, bytes[block.length]);
      }
      scope.close();
    }

    private static void writeThatFailsWithErrorClosesConnection() throws Exception {
      var scope = ActorSystem.openScope("edge");
      var builder = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
      var server = TcpAcceptor.open(builder, 0, connection -> {
        var out = connection.outputStream();
        StackEdge.runWhereParkFails(() -> {
          assertThrows(StackOverflowError.class, () -> out.write(new byte[64 << 20]));
          assertThrows(SocketException.class, () -> out.write(1));
        });
      }, o -> o);

      try (var client = new Socket("localhost", server.port())) {
        client.setSoTimeout((int) Patience.LONG.toMillis());
        readToEnd(client);
      }
      scope.close();
    }

    private static Thread start(Executable code) {
      return Patience.startFiber(() -> assertDoesNotThrow(code));
    }

    private static void readToEnd(Socket client) throws IOException {
      try {
        client.getInputStream().transferTo(OutputStream.nullOutputStream());
      } catch (SocketException reset) {} // a reset also ends the connection
    }

    private static void descend(OutputStream out, int level) throws IOException {
      out.write(level);
      descend(out, level + 1);
    }
  }

  private static void run(Edge edge) throws Exception {
    try (var child = Child.java(List.of("-Dfibry.soak=" + Soak.ON), Case.class,
        edge.name())) {
      child.awaitExit(0);
    }
  }

  @Promise("25.1")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void connectionIsClosedAfterStackOverflow(boolean onFiber) throws Exception {
    run(onFiber ? Edge.ON_FIBER : Edge.ON_THREAD);
  }

  @Promise("8.5")
  @Test
  void writerThatCannotParkBlocksNoOtherWriter() throws Exception {
    run(Edge.WHILE_OTHERS_WAIT);
  }

  @Promise("8.5")
  @Test
  void writeThatFailsWithErrorClosesConnection() throws Exception {
    run(Edge.IN_WRITE);
  }
}
