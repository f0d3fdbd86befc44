package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.io.Descriptors;
import io.fibry.support.Patience;
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

/** The limits of an HTTP server, by a clock that tests move. */
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

  private void until(CompletableFuture<?> done) {
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
      var all = client.send(sent).allLater();

      until(all);

      assertEquals("", all.join());
    }
  }

  @Test
  void headMayTakeItsTimeAndNoMore() throws Exception {
    open(routes -> routes.text("/", HttpExchange::bodyAsText),
        o -> o.withHeaderLimit(Duration.ofSeconds(10)).withIdleLimit(Duration.ofHours(1)));
    try (var client = new RawClient(server.port())) {
      var all = client.allLater();
      var stopped = new CompletableFuture<Void>();
      var drip = Patience.startFiber(() -> {
        try {
          client.send("GET / HTTP/1.1\r\nX: ");
          while (!stopped.isDone()) client.send("x"); // never silent
        } catch (IOException cut) {}
      });
      until(all);
      stopped.complete(null);
      Patience.joined(drip);

      // by either limit
      assertTrue(all.join().isEmpty() || all.join().startsWith("HTTP/1.1 431 "), all.join());
    }
  }

  @Promise("27.5")
  @Test
  void clientThatDoesNotReadIsCutOff() throws Exception {
    var failure = new CompletableFuture<Throwable>();
    var begun = new CountDownLatch(1);
    open(routes -> routes.stream("/", exchange -> {
      begun.countDown();
      try {
        while (true) exchange.outputStream().write(new byte[8_192]);
      } catch (IOException gone) {
        failure.complete(gone);
        throw gone;
      }
    }), o -> o.withWriteLimit(Duration.ofSeconds(5)));
    try (var client = new RawClient(server.port())) {
      client.send(RawClient.get("/"));
      Patience.await(begun); // before that the limit of the head would cut it off

      until(failure);

      assertTrue(failure.join().getMessage().contains("did not take what was written to it within 5 s"),
          failure.join().toString());
    }
  }

  @Test
  void thousandHalfOpenClientsStallNobody() throws Exception {
    open(routes -> routes.text("/", exchange -> "x"), o -> o.withMaxExchanges(4));
    var half = new ArrayList<Socket>();
    try {
      for (int i = 0; i < 1_000; i++) {
        var socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        half.add(socket);
        socket.getOutputStream().write("GET / HTTP/1.1\r\nHo".getBytes());
      }

      assertEquals("200", RawClient.codes(RawClient.talk(server.port(), RawClient.get("/"))));
    } finally {
      for (var socket : half) socket.close();
    }
  }

  @Promise("27.6")
  @Test
  void bodyThatIsTooLongIsRefusedUnread() throws Exception {
    var handled = new AtomicInteger();
    open(routes -> routes.text("/", exchange -> {
      handled.incrementAndGet();
      return exchange.bodyAsText();
    }), o -> o.withMaxBody(1_000));
    long sent = upload("Content-Length: 1073741824\r\n\r\n", new byte[65_536]);

    assertTrue(sent < 1 << 30, "the server has taken all of it");
    assertEquals(0, handled.get());
  }

  @Test
  void clientThatStillSendsCanReadWhyItIsRefused() throws Exception {
    open(routes -> routes.text("/", HttpExchange::bodyAsText), o -> o.withMaxBody(1_000));
    for (int i = 0; i < 20; i++) {
      try (var client = new RawClient(server.port())) {
        client.send(POST + "Content-Length: 800000\r\n\r\n");
        assertTrue(client.one().startsWith("HTTP/1.1 413 "));
        // fails if the server has closed
        for (int sent = 0; sent < 800_000; sent += 80_000) client.send(new byte[80_000]);
      }
    }
  }

  @Test
  void chunkedBodyThatIsTooLongIsRefusedWhenItIsTooLong() throws Exception {
    var seen = new AtomicReference<IOException>();
    var read = new AtomicLong();
    open(routes -> routes.stream("/", exchange -> {
      try {
        while (exchange.body().read() >= 0) read.incrementAndGet();
      } catch (IOException tooLong) {
        seen.set(tooLong);
        throw tooLong;
      }
    }), o -> o.withMaxBody(1_000));
    upload("Transfer-Encoding: chunked\r\n\r\n", ("1f4\r\n" + "x".repeat(500) + "\r\n").getBytes());

    assertEquals("a body of more than 1000 bytes", seen.get().getMessage());
    assertEquals(1_000, read.get());
  }

  /** Sends the piece until there is an answer. Returns how many bytes it sent. */
  private long upload(String headers, byte[] piece) throws Exception {
    try (var client = new RawClient(server.port())) {
      client.send(POST + headers);
      var answer = client.allLater();
      long sent = 0;
      try {
        while (sent < 1 << 30) {
          client.send(piece);
          sent += piece.length;
        }
      } catch (IOException closed) {}
      assertEquals("413", RawClient.codes(Patience.value(answer)));
      return sent;
    }
  }

  @Promise("27.8")
  @Test
  void endGivesExchangesTheirTimeThenCutsThem() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      gate.pass();
      return "never";
    }), o -> o.withDrainLimit(Duration.ofSeconds(7)));
    try (var client = new RawClient(server.port())) {
      var all = client.send(RawClient.get("/")).allLater();
      Patience.await(gate.entered);

      server.sendPoisonPill();
      assertFalse(server.onExit().isDone());
      until(server.onExit());

      assertEquals("", Patience.value(all));
    }
  }

  @Promise("27.8")
  @Test
  void endLetsAnExchangeFinishAndSaysThatNoMoreFollows() throws Exception {
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

      var answer = client.all();
      assertTrue(answer.endsWith("\r\n\r\nabc") && answer.contains("\r\nConnection: close\r\n"), answer);
      Patience.ended(server::waitForExit);
      assertThrows(IOException.class, () -> new RawClient(server.port()).close());
    }
  }

  @Test
  void killCutsAtOnce() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/wait", exchange -> {
      gate.pass();
      return "never";
    }), o -> o);
    try (var client = new RawClient(server.port()); var resting = new RawClient(server.port())) {
      resting.send("GET /none HTTP/1.1\r\nHost: a\r\n\r\n").one();
      client.send(RawClient.get("/wait"));
      Patience.await(gate.entered);

      server.kill();

      assertEquals("", client.all());
      assertEquals("", resting.all());
      Patience.ended(server::waitForExit);
    }
  }

  @Test
  void nothingIsLeftAfterTheEnd() throws Exception {
    open(routes -> routes.text("/", exchange -> "x"), o -> o);
    visit(3);
    server.close(); // the JDK opens some sockets once
    long before = Descriptors.openIfShown();
    open(routes -> routes.text("/", exchange -> "x"), o -> o);

    visit(50);
    server.close();

    Patience.eventually(() -> Descriptors.openIfShown() <= before);
  }

  private void visit(int clients) throws IOException {
    for (int i = 0; i < clients; i++) {
      try (var client = new RawClient(server.port())) {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        if (i % 2 == 0) client.one();
        if (i % 3 == 0) client.socket.setSoLinger(true, 0); // a reset
      }
    }
  }

  @Promise("16.16")
  @Test
  void aScopeThatClosesEndsItFirst() throws IOException {
    open(routes -> routes.text("/", exchange -> "x"), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").one();

      var report = scope.closeWithin(Patience.LONG);

      assertEquals("", client.all());
      assertEquals(List.of(), report.unresponsive());
    }
  }
}
