package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Patience;
import io.fibry.Promise;
import io.fibry.StackEdge;
import io.fibry.Strategy;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A handler that overflows its stack while it writes leaves no connection open. */
@Timeout(120)
class TcpStackEdgeFaultTest {
  private static final int ROUNDS = Boolean.getBoolean("fibry.soak") ? 500 : 15;

  @Promise("25.1")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theConnectionIsClosed(boolean onFiber) throws Exception {
    for (int i = 0; i < ROUNDS; i++) {
      var scope = ActorSystem.openScope("edge", o -> o.withGrace(Duration.ofMillis(200)));
      var how = scope.anonymous().strategy(onFiber ? Strategy.FIBER : Strategy.THREAD)
          .onFailure(FailurePolicy.goOn().withoutLog());
      var server = TcpAcceptor.open(how, 0, connection -> {
        var lines = connection.lineActor(); // writes beside the handler
        Thread.ofPlatform().daemon().start(() -> {
          for (int line = 0; line < 2_000; line++) lines.sendMessage("x");
        });
        descend(connection.getOutputStream(), 0);
      }, o -> o.withDrainLimit(Duration.ofMillis(200)));

      try (var client = new Socket("localhost", server.port())) {
        client.setSoTimeout((int) Patience.LONG.toMillis()); // then the read throws, and the test fails
        readToEnd(client);
      }

      assertEquals(List.of(), scope.closeWithin(Patience.LONG).running());
    }
  }

  @Promise("8.5")
  @Test
  void aWriterThatCannotParkHoldsUpNoOther() throws Exception {
    var scope = ActorSystem.openScope("edge");
    var full = new byte[64 << 20]; // more than the buffers of the system
    var server = TcpAcceptor.open(scope.anonymous().strategy(Strategy.THREAD), 0, connection -> {
      var out = connection.getOutputStream();
      var first = start(() -> out.write(full));
      Patience.parked(first);
      StackEdge.whereNoParkWorks(() -> assertThrows(StackOverflowError.class, () -> out.write(1)));
      var last = start(() -> out.write(2));
      Patience.parked(last);
      connection.getInputStream().read(); // the client begins to read
      Patience.joined(first);
      Patience.joined(last);
    }, o -> o);

    try (var client = new Socket("localhost", server.port())) {
      client.setSoTimeout((int) Patience.LONG.toMillis());
      client.getOutputStream().write(0);

      var read = client.getInputStream().readAllBytes();

      assertEquals(full.length + 1, read.length);
      assertEquals(2, read[full.length]);
    }
    scope.close();
  }

  @Promise("8.5")
  @Test
  void aWriteThatAnErrorBreaksOffCutsTheConnection() throws Exception {
    var scope = ActorSystem.openScope("edge");
    var how = scope.anonymous().onFailure(FailurePolicy.goOn().withoutLog());
    var server = TcpAcceptor.open(how, 0, connection -> {
      var out = connection.getOutputStream();
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
