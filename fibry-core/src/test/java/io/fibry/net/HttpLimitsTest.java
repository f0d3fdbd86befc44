package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the limits of an HTTP server with a clock that the tests advance. */
class HttpLimitsTest {
  private static final String POST = "POST / HTTP/1.1\r\nHost: a\r\n";

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("limits", o -> o.withScheduler(clock));
  private HttpServer server;

  private void open(UnaryOperator<HttpRoutes> routes, UnaryOperator<HttpOptions> options) {
    server = HttpServer.open(scope.anonymous(), 0, routes.apply(HttpRoutes.none()), options);
  }

  @AfterEach
  void close() {
    Gate.openAll();
    if (server != null) server.kill();
    scope.close();
  }

  private void advanceUntil(CompletableFuture<?> done) {
    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return done.isDone();
    });
  }

  @Promise("27.5")
  @ParameterizedTest
  @ValueSource(
      strings = {"", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n", POST + "Content-Length: 3\r\n\r\n",
        POST + "Content-Length: 3\r\n\r\nab", POST + "Transfer-Encoding: chunked\r\n\r\n3\r\n"})
  void clientThatStopsSendingIsCutOff(String sent) throws IOException {
    open(routes -> routes.text("/", HttpExchange::bodyAsText), o -> o);
    try (var client = new RawClient(server.port())) {
      var received = client.send(sent).readToEndLater();

      advanceUntil(received);

      assertEquals("", received.join());
    }
  }

  @Test
  void clientWhoseRequestHeadNeverEndsIsCutOff() throws Exception {
    open(routes -> routes.text("/", HttpExchange::bodyAsText),
        o -> o.withHeaderLimit(Duration.ofSeconds(10)).withIdleLimit(Duration.ofHours(1)));
    try (var client = new RawClient(server.port())) {
      var received = client.readToEndLater();
      var stop = new CompletableFuture<Void>();
      var slowSender = Patience.startFiber(() -> {
        try {
          client.send("GET / HTTP/1.1\r\nX: ");
          while (!stop.isDone()) client.send("x"); // the client is never silent
        } catch (IOException closed) {}
      });
      advanceUntil(received);
      stop.complete(null);
      Patience.awaitEnd(slowSender);

      // either the header limit closes the connection, or the size limit causes the response 431
      assertTrue(received.join().isEmpty() || received.join().startsWith("HTTP/1.1 431 "), received.join());
    }
  }

  @Promise({"27.5", "27.43"})
  @Test
  void clientThatDoesNotReadIsCutOffAtWriteLimit() throws Exception {
    var failure = new CompletableFuture<Throwable>();
    var handlerBegun = new CountDownLatch(1);
    open(routes -> routes.stream("/", exchange -> {
      handlerBegun.countDown();
      try {
        while (true) exchange.outputStream().write(new byte[8_192]);
      } catch (IOException cutOff) {
        failure.complete(cutOff);
        throw cutOff;
      }
    }), o -> o.withWriteLimit(Duration.ofSeconds(5)));
    try (var client = new RawClient(server.port())) {
      client.send(RawClient.get("/"));
      Patience.await(handlerBegun); // before the handler begins, the header limit would cut the client off

      advanceUntil(failure);

      assertTrue(failure.join().getMessage().contains("did not take what was written to it within 5 s"),
          failure.join().toString());
      Patience.eventually(() -> server.load().cutOffClients() == 1);
    }
  }

  @Promise("27.43")
  @Test
  void responseThatBreaksOffIsNotCountedAsCutOff() throws Exception {
    open(routes -> routes.stream("/", exchange -> {
      exchange.outputStream().write(1);
      exchange.outputStream().flush();
      throw new IllegalStateException("torn");
    }), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.0\r\n\r\n"); // an HTTP/1.0 response ends when its connection ends

      assertThrows(IOException.class, client.socket.getInputStream()::readAllBytes);
      Patience.eventually(() -> server.load().connections() == 0);
      assertEquals(0, server.load().cutOffClients());
    }
  }

  @Promise("27.43")
  @Test
  void closedIdleConnectionIsNotCountedAsCutOff() throws Exception {
    open(routes -> routes.text("/", exchange -> "x"), o -> o.withIdleLimit(Duration.ofSeconds(10)));
    try (var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").readResponse();
      var end = client.readToEndLater();

      advanceUntil(end);

      Patience.eventually(() -> server.load().connections() == 0);
      assertEquals(0, server.load().cutOffClients());
    }
  }

  @Test
  void thousandUnfinishedRequestsBlockNoOtherRequest() throws Exception {
    open(routes -> routes.text("/", exchange -> "x"), o -> o.withMaxExchanges(4));
    var sockets = new ArrayList<Socket>();
    try {
      for (int i = 0; i < 1_000; i++) {
        var socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        sockets.add(socket);
        socket.getOutputStream().write("GET / HTTP/1.1\r\nHo".getBytes());
      }

      assertEquals("200", RawClient.codes(RawClient.sendAndReadAll(server.port(), RawClient.get("/"))));
    } finally {
      for (var socket : sockets) socket.close();
    }
  }

  @Promise("27.6")
  @Test
  void tooLongBodyIsRefusedBeforeServerReadsIt() throws Exception {
    var handlerCalls = new AtomicInteger();
    open(routes -> routes.text("/", exchange -> {
      handlerCalls.incrementAndGet();
      return exchange.bodyAsText();
    }), o -> o.withMaxBody(1_000));
    long sent = upload("Content-Length: 1073741824\r\n\r\n", new byte[65_536]);

    assertTrue(sent < 1 << 30, "the server has read the whole body");
    assertEquals(0, handlerCalls.get());
  }

  @Test
  void clientCanReadRefusalWhileItSendsBody() throws Exception {
    open(routes -> routes.text("/", HttpExchange::bodyAsText), o -> o.withMaxBody(1_000));
    for (int i = 0; i < 20; i++) {
      try (var client = new RawClient(server.port())) {
        client.send(POST + "Content-Length: 800000\r\n\r\n");
        assertTrue(client.readResponse().startsWith("HTTP/1.1 413 "));
        // a send throws if the server has closed the connection
        for (int sent = 0; sent < 800_000; sent += 80_000) client.send(new byte[80_000]);
      }
    }
  }

  @Test
  void chunkedBodyIsRefusedWhenItExceedsLimit() throws Exception {
    var failure = new AtomicReference<IOException>();
    var readCount = new AtomicLong();
    open(routes -> routes.stream("/", exchange -> {
      try {
        while (exchange.body().read() >= 0) readCount.incrementAndGet();
      } catch (IOException tooLong) {
        failure.set(tooLong);
        throw tooLong;
      }
    }), o -> o.withMaxBody(1_000));
    upload("Transfer-Encoding: chunked\r\n\r\n", ("1f4\r\n" + "x".repeat(500) + "\r\n").getBytes());

    assertEquals("a body of more than 1000 bytes", failure.get().getMessage());
    assertEquals(1_000, readCount.get());
  }

  /**
   * Sends the piece again and again until the server closes the connection. Returns the number of
   * bytes sent.
   */
  private long upload(String headers, byte[] piece) throws Exception {
    try (var client = new RawClient(server.port())) {
      client.send(POST + headers);
      var response = client.readToEndLater();
      long sent = 0;
      try {
        while (sent < 1 << 30) {
          client.send(piece);
          sent += piece.length;
        }
      } catch (IOException closed) {}
      assertEquals("413", RawClient.codes(Patience.value(response)));
      return sent;
    }
  }

  @Promise("27.8")
  @Test
  void poisonPillCutsOffExchangesAtDrainLimit() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      gate.pass();
      return "never";
    }), o -> o.withDrainLimit(Duration.ofSeconds(7)));
    try (var client = new RawClient(server.port())) {
      var received = client.send(RawClient.get("/")).readToEndLater();
      Patience.await(gate.entered);

      server.sendPoisonPill();
      assertFalse(server.onExit().isDone());
      advanceUntil(server.onExit());

      assertEquals("", Patience.value(received));
    }
  }

  @Promise("27.8")
  @Test
  void askExitLetsExchangeEndWithConnectionCloseHeader() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      gate.pass();
      return exchange.bodyAsText();
    }), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send(POST + "Content-Length: 3\r\n\r\n");
      Patience.await(gate.entered);

      server.askExit();
      client.send("abc");
      gate.open();

      var response = client.readToEnd();
      assertTrue(response.endsWith("\r\n\r\nabc") && response.contains("\r\nConnection: close\r\n"), response);
      Patience.awaitEnd(server::waitForExit);
      assertFalse(Descriptors.isListeningIfShown(server.port()));
    }
  }

  @Promise("27.8")
  @ParameterizedTest
  @ValueSource(strings = {"pill", "exit", "scope"})
  void requestWhoseHandlerFailsDuringServerEndGets500(String end) throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      gate.pass();
      throw new IllegalStateException("planned");
    }), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send(RawClient.get("/"));
      Patience.await(gate.entered);

      switch (end) {
        case "pill" -> server.sendPoisonPill();
        case "exit" -> server.askExit();
        default -> Patience.startFiber(() -> scope.close());
      }
      Patience.eventually(() -> !Descriptors.isListeningIfShown(server.port()));
      gate.open();

      assertEquals("500", RawClient.codes(client.readToEnd()));
    }
  }

  @Test
  void killClosesConnectionsImmediately() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/wait", exchange -> {
      gate.pass();
      return "never";
    }), o -> o);
    try (var client = new RawClient(server.port()); var idleClient = new RawClient(server.port())) {
      idleClient.send("GET /none HTTP/1.1\r\nHost: a\r\n\r\n").readResponse();
      client.send(RawClient.get("/wait"));
      Patience.await(gate.entered);

      server.kill();

      assertEquals("", client.readToEnd());
      assertEquals("", idleClient.readToEnd());
      Patience.awaitEnd(server::waitForExit);
    }
  }

  @Test
  void endedServerLeavesNoDescriptors() throws Exception {
    open(routes -> routes.text("/", exchange -> "x"), o -> o);
    connectClients(3);
    server.close(); // the first server makes the JDK open some sockets, which stay open
    long descriptorsBefore = Descriptors.countOpenIfShown();
    open(routes -> routes.text("/", exchange -> "x"), o -> o);

    connectClients(50);
    server.close();

    Patience.eventually(() -> Descriptors.countOpenIfShown() <= descriptorsBefore);
  }

  private void connectClients(int clients) throws IOException {
    for (int i = 0; i < clients; i++) {
      try (var client = new RawClient(server.port())) {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        if (i % 2 == 0) client.readResponse();
        if (i % 3 == 0) client.socket.setSoLinger(true, 0); // closes with a reset
      }
    }
  }

  @Promise("16.16")
  @Test
  void closingScopeEndsServer() throws IOException {
    open(routes -> routes.text("/", exchange -> "x"), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").readResponse();

      var report = scope.closeWithin(Patience.LONG);

      assertEquals("", client.readToEnd());
      assertEquals(List.of(), report.unresponsive());
    }
  }
}
