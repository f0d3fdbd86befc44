package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Promise;
import io.fibry.StackEdge;
import io.fibry.Strategy;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
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
 * A handler that overflows its stack while it writes leaves no connection open. Each case has a JVM
 * of its own. On Java 21 the overflow of a fiber that waits for its socket can end the thread of
 * the JDK that all fibers need to wait for theirs (a socket that is closed before it is
 * registered).
 */
class TcpStackEdgeJvmTest {
  private static final int ROUNDS = Soak.ON ? 500 : 4;

  private enum Edge {
    OF_A_FIBER, OF_A_THREAD, WHILE_OTHERS_WAIT, IN_A_WRITE
  }

  /** One case, by its name. */
  static final class Case {
    public static void main(String[] args) throws Exception {
      switch (Edge.valueOf(args[0])) {
        case OF_A_FIBER -> theConnectionIsClosed(true);
        case OF_A_THREAD -> theConnectionIsClosed(false);
        case WHILE_OTHERS_WAIT -> aWriterThatCannotParkHoldsUpNoOther();
        case IN_A_WRITE -> aWriteThatAnErrorBreaksOffCutsTheConnection();
      }
      System.exit(0);
    }

    private static void theConnectionIsClosed(boolean onFiber) throws Exception {
      for (int i = 0; i < ROUNDS; i++) {
        var scope = ActorSystem.openScope("edge", o -> o.withKillGrace(Duration.ofMillis(200)));
        var how = scope.anonymous().strategy(onFiber ? Strategy.FIBER : Strategy.THREAD)
            .onFailure(FailurePolicy.resume().withoutLog());
        var server = TcpAcceptor.open(how, 0, connection -> {
          var lines = connection.lineActor(); // writes beside the handler
          Thread.ofPlatform().daemon().start(() -> {
            for (int line = 0; line < 2_000; line++) lines.sendMessage("x");
          });
          descend(connection.outputStream(), 0);
        }, o -> o.withDrainLimit(Duration.ofMillis(200)));

        try (var client = new Socket("localhost", server.port())) {
          client.setSoTimeout((int) Patience.LONG.toMillis()); // then the read throws, and the test fails
          readToEnd(client);
        }

        assertEquals(List.of(), scope.closeWithin(Patience.LONG).unresponsive());
      }
    }

    private static void aWriterThatCannotParkHoldsUpNoOther() throws Exception {
      var scope = ActorSystem.openScope("edge");
      var full = new byte[64 << 20]; // more than the buffers of the system
      var inLine = new CountDownLatch(1);
      var server = TcpAcceptor.open(scope.anonymous().strategy(Strategy.THREAD), 0, connection -> {
        var out = connection.outputStream();
        var first = start(() -> out.write(full));
        Patience.parked(first);
        StackEdge.whereNoParkWorks(() -> assertThrows(StackOverflowError.class, () -> out.write(1)));
        var last = start(() -> out.write(2));
        Patience.parked(last);
        inLine.countDown();
        Patience.joined(first);
        Patience.joined(last);
      }, o -> o);

      try (var client = new Socket("localhost", server.port())) {
        client.setSoTimeout((int) Patience.LONG.toMillis());
        Patience.await(inLine);

        var read = client.getInputStream().readAllBytes();

        assertEquals(full.length + 1, read.length);
        assertEquals(2, read[full.length]);
      }
      scope.close();
    }

    private static void aWriteThatAnErrorBreaksOffCutsTheConnection() throws Exception {
      var scope = ActorSystem.openScope("edge");
      var how = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
      var server = TcpAcceptor.open(how, 0, connection -> {
        var out = connection.outputStream();
        StackEdge.whereNoParkWorks(() -> {
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
      return Thread.startVirtualThread(() -> assertDoesNotThrow(code));
    }

    private static void readToEnd(Socket client) throws IOException {
      try {
        client.getInputStream().transferTo(OutputStream.nullOutputStream());
      } catch (SocketException reset) {} // an end, too
    }

    private static void descend(OutputStream out, int level) throws IOException {
      out.write(level);
      descend(out, level + 1);
    }
  }

  private static void run(Edge edge) throws Exception {
    try (var child = Child.java(List.of("-Dfibry.soak=" + Soak.ON), Case.class,
        edge.name())) {
      child.ended(0);
    }
  }

  @Promise("25.1")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theConnectionIsClosed(boolean onFiber) throws Exception {
    run(onFiber ? Edge.OF_A_FIBER : Edge.OF_A_THREAD);
  }

  @Promise("8.5")
  @Test
  void aWriterThatCannotParkHoldsUpNoOther() throws Exception {
    run(Edge.WHILE_OTHERS_WAIT);
  }

  @Promise("8.5")
  @Test
  void aWriteThatAnErrorBreaksOffCutsTheConnection() throws Exception {
    run(Edge.IN_A_WRITE);
  }
}
