package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a scope is quiet while an open connection waits for its client, and only then. */
class OpenConnectionTest {
  private static final Duration SHORT = Duration.ofMillis(20);

  private final ManualScheduler clock = new ManualScheduler();
  private final Gate gate = new Gate();
  private final List<String> received = new CopyOnWriteArrayList<>();
  private ActorScope scope;

  /** Opens the scope, whose clock the test advances if {@code isManual}. */
  private void openScope(boolean isManual) {
    scope = ActorSystem.openScope("net", o -> o.withScheduler(isManual ? clock : Scheduler.system()));
  }

  private RawClient connect(UnaryOperator<HttpRoutes> routes, String request) throws IOException {
    var server = HttpServer.open(scope.anonymous(), 0, routes.apply(HttpRoutes.none()), o -> o);
    return new RawClient(server.port()).send(request.replace("\n", "\r\n"));
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private void assertQuiet() {
    assertTrue(scope.awaitQuiescence(Patience.LONG), scope::dump);
  }

  private void assertAtWork() {
    assertFalse(scope.awaitQuiescence(SHORT), scope::dump);
  }

  @Promise("19.23")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void webSocketIsQuietBetweenMessages(boolean isManual) throws IOException {
    openScope(isManual);
    var handshake = "GET /chat HTTP/1.1\nHost: a\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n\n";
    try (var client = connect(routes -> routes.webSocket("/chat", connection -> {
      for (var text : connection.texts()) {
        received.add(text);
        gate.passUninterruptibly();
      }
    }), handshake)) {
      assertTrue(client.readResponse().startsWith("HTTP/1.1 101"));
      assertQuiet();

      client.send(new byte[] {(byte) 0x81, (byte) 0x82, 0, 0, 0, 0, 'h', 'i'});
      Patience.await(gate.entered);
      assertAtWork();
      gate.open();

      assertQuiet();
      assertEquals(List.of("hi"), received);
    }
  }

  @Promise("19.23")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void connectionIsQuietBetweenExchanges(boolean observesDisconnect) throws IOException {
    openScope(true);
    try (var client = connect(routes -> routes.text("/page", exchange -> {
      if (observesDisconnect) exchange.onDisconnect(() -> {});
      gate.passUninterruptibly();
      return "page";
    }), "GET /page HTTP/1.1\nHost: a\n\n")) {
      Patience.await(gate.entered);
      assertAtWork();
      gate.open();
      assertTrue(client.readResponse().endsWith("page"));

      assertQuiet();
      client.send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
      assertTrue(client.readResponse().endsWith("page"));
      assertQuiet();
    }
  }

  @Promise("19.23")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void exchangeIsAtWorkWhileItWaitsForBody(boolean isManual) throws IOException {
    openScope(isManual);
    try (var client = connect(routes -> routes.text("POST /page", exchange -> {
      gate.entered.countDown();
      return exchange.bodyAsText();
    }), "POST /page HTTP/1.1\nHost: a\nContent-Length: 2\n\n")) {
      Patience.await(gate.entered);
      assertAtWork();

      client.send("ok");
      assertTrue(client.readResponse().endsWith("ok"));
      assertQuiet();
    }
  }

  @Promise("19.23")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void eventStreamIsQuietBetweenEvents(boolean handlerReturns) throws IOException {
    for (boolean isManual : new boolean[] {false, true}) {
      openScope(isManual);
      try (var client = connect(routes -> routes.stream("/events", exchange -> {
        var events = exchange.eventActor();
        events.sendMessage("first");
        if (!handlerReturns) events.waitForExit();
      }), "GET /events HTTP/1.1\nHost: a\n\n")) {
        assertTrue(client.readResponse().startsWith("HTTP/1.1 200"));
        assertQuiet();
        assertEquals("data: first\n\n", new String(client.socket.getInputStream().readNBytes(13)));
      }
      scope.closeWithin(Duration.ZERO);
    }
  }

  @Promise("19.23")
  @Test
  void connectionIsAtWorkWhileClientDoesNotRead() throws IOException {
    openScope(true);
    try (var client = connect(routes -> routes.stream("/", exchange -> {
      gate.entered.countDown();
      while (true) exchange.outputStream().write(new byte[100_000]);
    }), "GET / HTTP/1.1\nHost: a\n\n")) {
      Patience.await(gate.entered);
      assertAtWork();
      assertTrue(client.readResponse().startsWith("HTTP/1.1 200"));
    }
  }

  @Promise("19.23")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void tcpConnectionIsQuietWhileItReads(boolean readsLines) throws IOException {
    openScope(true);
    var acceptor = TcpAcceptor.open(scope.anonymous(), 0, connection -> {
      if (readsLines) for (var line : connection.lines()) received.add(line);
      else received.add(new String(connection.inputStream().readNBytes(3)));
      gate.passUninterruptibly();
    }, o -> o);
    try (var client = new Socket(InetAddress.getLoopbackAddress(), acceptor.port())) {
      client.getOutputStream().write("a\n".getBytes());
      Patience.eventually(() -> !readsLines || !received.isEmpty());
      assertQuiet();

      client.getOutputStream().write("\n".getBytes());
      client.shutdownOutput();
      Patience.await(gate.entered);
      assertAtWork();
    }
    gate.open();
    assertQuiet();
  }

  private record Steps(AtomicBoolean isAwaiting, boolean fails) implements MultiStepMessage {
    @Override
    public Object currentStep() {
      return null;
    }

    @Override
    public long completedSteps() {
      return 0;
    }

    @Override
    public boolean isAwaitingInput() {
      if (fails) throw new IllegalStateException("planned");
      return isAwaiting.get();
    }
  }

  @Promise("19.23")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ownMessageTellsWhetherItAwaitsInput(boolean fails) {
    openScope(true);
    var isAwaiting = new AtomicBoolean(true);
    scope.anonymous().newActor((Steps steps) -> gate.passUninterruptibly()).sendMessage(new Steps(isAwaiting, fails));
    Patience.await(gate.entered);

    if (!fails) assertQuiet();
    isAwaiting.set(false);
    assertAtWork();
    gate.open();
    assertQuiet();
  }
}
