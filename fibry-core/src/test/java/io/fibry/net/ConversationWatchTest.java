package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Certificates;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that dump and watchdog show which line or exchange a handler works on, and never report a
 * slow client.
 */
class ConversationWatchTest {
  private static final Duration LIMIT = Duration.ofSeconds(4);
  private static final String[] ACTORS = {"'echo", "'silent", "'web", "'forward"};

  /** A client that sends lines, and waits for each response. */
  private static final class Client implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader in;

    Client(int port) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    void send(String text) throws IOException {
      socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    String sendAndReadLine(String text) throws IOException {
      send(text);
      return in.readLine();
    }

    String get(String path) throws IOException {
      send("GET " + path + " HTTP/1.1\r\nHost: here\r\n\r\n");
      var head = new StringBuilder();
      for (var line = in.readLine(); !line.isEmpty(); line = in.readLine()) head.append(line).append('\n');
      return head.toString();
    }

    String body(int length) throws IOException {
      var body = new char[length];
      for (int offset = 0; offset < length;) offset += in.read(body, offset, length - offset);
      return new String(body);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private final Clock clock = new Clock();
  private final ActorScope scope =
      ActorSystem.openScope("watched", o -> o.withScheduler(clock).withWatchdog(LIMIT, 1_000));
  private final Gate gate = new Gate();
  private final CountDownLatch hugeBegun = new CountDownLatch(1); // counted down when the handler of /huge begins

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private String logDuring(Duration duration) {
    try (var logged = new Logged()) {
      for (var elapsed = Duration.ZERO; elapsed.compareTo(duration) < 0; elapsed = elapsed.plusMillis(500))
        clock.manual.advance(Duration.ofMillis(500));
      return logged.entriesAbout(ACTORS);
    }
  }

  private void awaitDump(String pattern) {
    Patience.eventually(() -> Pattern.compile(pattern).matcher(scope.dump()).find());
  }

  private TcpAcceptor echo() {
    return TcpAcceptor.open(scope.named("echo"), 0, client -> {
      for (var line : client.lines()) {
        if (line.equals("slow")) gate.pass();
        client.outputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }, o -> o);
  }

  private HttpServer web() {
    return HttpServer.open(scope.named("web"), 0, HttpRoutes.none().text("/quick", exchange -> "quick")
        .text("/slow", exchange -> {
          gate.pass();
          return "slow";
        }).stream("/events", exchange -> exchange.eventActor().waitForExit())
        .stream("/long", exchange -> {
          for (int i = 0; i < 20; i++) {
            exchange.outputStream().write(new byte[100]);
            exchange.outputStream().flush();
            clock.manual.advance(Duration.ofSeconds(1));
          }
        }).stream("/huge", exchange -> {
          hugeBegun.countDown();
          exchange.outputStream().write(new byte[50_000_000]);
        }), o -> o);
  }

  @Promise("19.11")
  @Test
  void watchdogReportsNeitherActiveNorSilentClient() throws IOException {
    try (var client = new Client(echo().port()); var silentClient = new Client(silentPort())) {
      awaitDump("silent/1 \\(FIBER\\): waits for client");
      for (int i = 0; i < 10; i++) {
        assertEquals("hello", client.sendAndReadLine("hello\n"));
        assertEquals("", logDuring(Duration.ofSeconds(1)));
      }
      awaitDump("echo/1 \\(FIBER\\): waits for client /127.0.0.1:\\d+; 10 handled\n");
      assertEquals("", logDuring(LIMIT.multipliedBy(3)));
      assertEquals("", silentClient.socket.isClosed() ? "closed" : "");
    }
  }

  private int silentPort() {
    return TcpAcceptor.open(scope.named("silent"), 0, client -> client.inputStream().read(), o -> o).port();
  }

  @Promise("19.11")
  @Test
  void watchdogReportsSlowlyHandledLineOnce() throws IOException {
    try (var client = new Client(echo().port())) {
      assertEquals("quick", client.sendAndReadLine("quick\n"));
      client.send("slow\n");
      Patience.await(gate.entered);

      String text = logDuring(LIMIT.multipliedBy(3));

      assertEquals(2, text.split("actor 'echo/1' has been handling line 'slow' for at least", -1).length, text);
      assertTrue(text.contains("Gate.pass"), text);
      awaitDump("echo/1 \\(FIBER\\): has been handling line 'slow' for at least [\\d.]+ s; 1 handled\n");
    }
  }

  @Promise("19.11")
  @Test
  void watchdogTimesEachExchangeSeparately() throws IOException {
    try (var client = new Client(web().port())) {
      for (int i = 0; i < 10; i++) {
        assertTrue(client.get("/quick").startsWith("HTTP/1.1 200"));
        assertEquals("quick", client.body(5));
        assertEquals("", logDuring(Duration.ofSeconds(1)));
      }
      awaitDump("web/1 \\(FIBER\\): waits for client /127.0.0.1:\\d+; 10 handled\n");
      client.send("GET /slow?x=1 HTTP/1.1\r\nHost: here\r\n\r\n");
      Patience.await(gate.entered);

      String text = logDuring(LIMIT.multipliedBy(2));

      assertTrue(text.contains("actor 'web/1' has been handling GET /slow for at least"), text);
    }
  }

  @Promise("19.11")
  @Test
  void watchdogDoesNotReportExchangeThatWaitsForClient() throws IOException {
    var web = web();
    try (var longClient = new Client(web.port());
        var eventClient = new Client(web.port());
        var deafClient = new Client(web.port());
        var logged = new Logged()) {
      assertTrue(longClient.get("/long").startsWith("HTTP/1.1 200"));
      awaitDump("web/1 \\(FIBER\\): waits for client /127.0.0.1:\\d+; 1 handled");
      assertTrue(eventClient.get("/events").startsWith("HTTP/1.1 200"));
      deafClient.send("GET /huge HTTP/1.1\r\nHost: here\r\n\r\n");
      Patience.await(hugeBegun);

      // advances the clock by twice the limit in all, and only while both handlers wait for their
      // clients
      for (int i = 0; i < 16; i++) {
        awaitDump("web/2 \\(FIBER\\): waits for client");
        awaitDump("web/3 \\(FIBER\\): waits for client");
        clock.manual.advance(LIMIT.dividedBy(8));
      }

      assertEquals("", logged.entriesAbout(ACTORS));
    }
  }

  @Promise("19.11")
  @Test
  void watchdogDoesNotReportClientsOfForwarder() throws IOException {
    var target = new InetSocketAddress(InetAddress.getLoopbackAddress(), echo().port());
    var forwarder = TcpAcceptor.forward(scope.named("forward"), 0, target, o -> o);
    try (var client = new Client(forwarder.port())) {
      for (int i = 0; i < 10; i++) {
        assertEquals("hello", client.sendAndReadLine("hello\n"));
        assertEquals("", logDuring(Duration.ofSeconds(1)));
      }
    }
  }

  @Test
  void dumpShowsLengthOfFrameBeingHandled() throws IOException {
    var acceptor = TcpAcceptor.open(scope.named("frames"), 0, client -> {
      for (var frame : client.frames()) if (frame.length == 3) gate.pass();
    }, o -> o);
    try (var client = new Client(acceptor.port())) {
      client.send("\0\0\0\2hi\0\0\0\3you");
      Patience.await(gate.entered);
      awaitDump("frames/1 \\(FIBER\\): (is|has been) handling a frame of 3 bytes.*; 1 handled\n");
    }
  }

  @Test
  void dumpShowsConversationThatHasNotReadYet() throws IOException {
    var acceptor = TcpAcceptor.open(scope.named("slow"), 0, client -> gate.pass(), o -> o);
    try (var client = new Client(acceptor.port())) {
      Patience.await(gate.entered);
      awaitDump("slow/1 \\(FIBER\\): (is|has been) handling the conversation with client /127.0.0.1:\\d+");
      assertEquals(false, client.socket.isClosed());
    }
  }

  @Promise("19.11")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void dumpAndWatchdogNameTlsHandshakeOnlyUntilItEnds(boolean isHttp) throws Exception {
    var tls = Certificates.context();
    int port = isHttp
        ? HttpServer.open(scope.named("web"), 0, HttpRoutes.none().text("/slow", exchange -> {
          gate.pass();
          return "slow";
        }), o -> o.withTls(tls)).port()
        : TcpAcceptor.open(scope.named("web"), 0, client -> gate.pass(), o -> o.withTls(tls)).port();
    try (var client = new Client(port)) {
      awaitDump("web/1 \\(FIBER\\): (is|has been) handling the TLS handshake with client /127.0.0.1:\\d+");

      String text = logDuring(LIMIT.multipliedBy(2));

      assertTrue(text.contains("actor 'web/1' has been handling the TLS handshake with client /127.0.0.1:"), text);
      assertFalse(text.contains("the conversation"), text);
      assertFalse(client.socket.isClosed());
    }
    try (var client = Certificates.connect(tls, port)) { // its handshake has ended
      client.getOutputStream().write("GET /slow HTTP/1.1\r\nHost: here\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      Patience.await(gate.entered);

      awaitDump("web/2 \\(FIBER\\): (is|has been) handling "
          + (isHttp ? "GET /slow" : "the conversation with client /127.0.0.1:\\d+"));
    }
  }
}
