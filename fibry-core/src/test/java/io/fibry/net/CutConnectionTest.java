package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer that was cut off looks broken to its client, not ended. */
class CutConnectionTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final String HALF = "half of an ans";

  @AfterEach
  void opens() {
    Gate.openAll();
    scope.close();
  }

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("cut", o -> o.withScheduler(clock));

  private static UnaryOperator<TcpOptions> options(String how) {
    return options -> switch (how) {
      case "total limit" -> options.withTotalLimit(LIMIT);
      case "idle limit" -> options.withIdleLimit(LIMIT);
      default -> options.withDrainLimit(LIMIT);
    };
  }

  private static void end(Exitable server, String how) {
    if (how.equals("kill")) server.kill();
    if (how.equals("drain limit")) server.sendPoisonPill();
  }

  private static boolean isBroken(InputStream in) {
    try {
      in.read();
      return false;
    } catch (IOException reset) {
      return true;
    }
  }

  @Promise("25.10")
  @ParameterizedTest
  @ValueSource(strings = {"total limit", "idle limit", "drain limit", "kill"})
  void cutOffTcpClientSeesBrokenConnection(String how) throws IOException {
    var gate = new Gate();
    var server = TcpAcceptor.open(scope.anonymous(), 0, connection -> {
      connection.outputStream().write(HALF.getBytes());
      if (how.equals("idle limit")) connection.inputStream().read();
      else gate.passDeaf();
    }, options(how));
    try (var peer = new Peer(server.port())) {
      var in = peer.socket.getInputStream();
      assertEquals(HALF, new String(in.readNBytes(HALF.length())));

      end(server, how);
      var broken = new CompletableFuture<Boolean>();
      Patience.startFiber(() -> broken.complete(isBroken(in)));
      Patience.eventually(() -> {
        if (!how.equals("kill")) clock.advance(Duration.ofSeconds(1));
        return broken.isDone();
      });

      assertTrue(broken.join());
    } finally {
      gate.open();
      server.kill();
    }
  }

  @Promise("25.10")
  @Test
  void killedHttpServerLooksBrokenToClient() throws IOException {
    var gate = new Gate();
    var server = HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none().stream("/", exchange -> {
      exchange.outputStream().write(HALF.getBytes());
      exchange.outputStream().flush();
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
