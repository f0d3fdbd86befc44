package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
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

/** Tests that a client reads an error, not a normal end, after its response was cut off. */
class CutConnectionTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final String PARTIAL_RESPONSE = "half of an ans";

  @AfterEach
  void close() {
    Gate.openAll();
    scope.close();
  }

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("cut", o -> o.withScheduler(clock));

  private static UnaryOperator<TcpOptions> options(String cause) {
    return options -> switch (cause) {
      case "total limit" -> options.withTotalLimit(LIMIT);
      case "idle limit" -> options.withIdleLimit(LIMIT);
      default -> options.withDrainLimit(LIMIT);
    };
  }

  private static void end(Exitable server, String cause) {
    if (cause.equals("kill")) server.kill();
    if (cause.equals("drain limit")) server.sendPoisonPill();
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
  void cutOffTcpClientSeesBrokenConnection(String cause) throws IOException {
    var gate = new Gate();
    var server = TcpAcceptor.open(scope.anonymous(), 0, connection -> {
      connection.outputStream().write(PARTIAL_RESPONSE.getBytes());
      if (cause.equals("idle limit")) connection.inputStream().read();
      else gate.passUninterruptibly();
    }, options(cause));
    try (var peer = new Peer(server.port())) {
      var in = peer.socket.getInputStream();
      assertEquals(PARTIAL_RESPONSE, new String(in.readNBytes(PARTIAL_RESPONSE.length())));

      end(server, cause);
      CompletableFuture<Boolean> result = Patience.callOnFiber(() -> isBroken(in));
      Patience.eventually(() -> {
        if (!cause.equals("kill")) clock.advance(Duration.ofSeconds(1));
        return result.isDone();
      });

      assertTrue(result.join());
    } finally {
      gate.open();
      server.kill();
    }
  }

  @Promise("25.10")
  @Test
  void clientOfKilledHttpServerSeesBrokenConnection() throws IOException {
    var gate = new Gate();
    var server = HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none().stream("/", exchange -> {
      exchange.outputStream().write(PARTIAL_RESPONSE.getBytes());
      exchange.outputStream().flush();
      gate.passUninterruptibly();
    }), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.0\r\n\r\n"); // an HTTP/1.0 response ends when its connection ends
      var in = client.socket.getInputStream();
      var received = new StringBuilder();
      while (received.indexOf(PARTIAL_RESPONSE) < 0) received.append((char) in.read());

      server.kill();

      assertThrows(IOException.class, in::read);
    } finally {
      gate.open();
    }
  }
}
