package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Gate;
import io.fibry.Promise;
import java.io.IOException;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer that was cut off looks broken to its client, not ended. */
class CutConnectionTest {
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final String HALF = "half of an ans";

  @AfterEach
  void opens() {
    Gate.openAll();
  }

  private static UnaryOperator<TcpOptions> options(String how) {
    return options -> switch (how) {
      case "total limit" -> options.withTotalLimit(SHORT);
      case "idle limit" -> options.withIdleLimit(SHORT);
      default -> options.withDrainLimit(SHORT);
    };
  }

  private static void end(Exitable server, String how) {
    if (how.equals("kill")) server.kill();
    if (how.equals("drain limit")) server.sendPoisonPill();
  }

  @Promise("25.10")
  @ParameterizedTest
  @ValueSource(strings = {"total limit", "idle limit", "drain limit", "kill"})
  void ofATcpServer(String how) throws IOException {
    var gate = new Gate();
    var server = TcpAcceptor.open(ActorSystem.anonymous(), 0, connection -> {
      connection.getOutputStream().write(HALF.getBytes());
      if (how.equals("idle limit")) connection.getInputStream().read();
      else gate.passDeaf();
    }, options(how));
    try (var peer = new Peer(server.port())) {
      var in = peer.socket.getInputStream();
      assertEquals(HALF, new String(in.readNBytes(HALF.length())));

      end(server, how);

      assertThrows(IOException.class, in::read);
    } finally {
      gate.open();
      server.kill();
    }
  }

  @Promise("25.10")
  @Test
  void ofAnHttpServer() throws IOException {
    var gate = new Gate();
    var server = HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none().stream("/", exchange -> {
      exchange.out().write(HALF.getBytes());
      exchange.out().flush();
      gate.passDeaf();
    }), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.0\r\n\r\n"); // an answer that ends with its connection
      var in = client.socket.getInputStream();
      var seen = new StringBuilder();
      while (seen.indexOf(HALF) < 0) seen.append((char) in.read());

      server.kill();

      assertThrows(IOException.class, in::read);
    } finally {
      gate.open();
    }
  }
}
