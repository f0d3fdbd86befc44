package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Certificates;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the notice that a client has disconnected while its handler works. */
class HttpDisconnectTest {
  private static final String GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

  private final ServerScope net = new ServerScope();
  private final AtomicInteger noticed = new AtomicInteger();
  private final CountDownLatch disconnected = new CountDownLatch(1);
  private HttpServer server;

  @AfterEach
  void close() {
    net.close();
  }

  private void open(HttpRoutes routes) {
    server = HttpServer.open(net.scope.anonymous(), 0, routes, o -> o);
  }

  @Promise("27.24")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void handlerIsNotifiedWhenItsClientDisconnects(boolean byReset) throws Exception {
    var begun = new CountDownLatch(1);
    var ended = new CountDownLatch(1);
    open(HttpRoutes.none().text("/", exchange -> {
      exchange.onDisconnect(disconnected::countDown);
      begun.countDown();
      Patience.await(disconnected);
      ended.countDown();
      return "nobody reads this";
    }));
    try (var client = new RawClient(server.port())) {
      client.send(GET);
      Patience.await(begun);
      if (byReset) client.socket.setSoLinger(true, 0);
    }

    Patience.await(ended);
  }

  @Promise("27.24")
  @Test
  void disconnectActionDoesNotRunAfterHandlerReturned() throws Exception {
    open(HttpRoutes.none().text("/", exchange -> {
      exchange.onDisconnect(noticed::incrementAndGet);
      return "done";
    }));
    for (int i = 0; i < 20; i++) try (var client = new RawClient(server.port())) {
      assertTrue(client.send(GET).readResponse().endsWith("done"));
    }

    Patience.eventually(() -> net.scope.actors().size() == 1);
    assertEquals(0, noticed.get());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7})
  void disconnectActionLosesNoRequestOfSameConnection(int pipelined) throws Exception {
    open(HttpRoutes.none().text("POST /", exchange -> {
      var body = exchange.bodyAsText();
      exchange.onDisconnect(noticed::incrementAndGet);
      return body;
    }));
    try (var client = new RawClient(server.port())) {
      for (int i = 0; i < 200; i++) {
        var body = "x".repeat(1 + i % 50);
        var request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
        client.send(request.repeat(pipelined));
        for (int k = 0; k < pipelined; k++) assertTrue(client.readResponse().endsWith("\r\n\r\n" + body));
      }
      assertEquals(0, noticed.get());
    }
  }

  @Test
  void disconnectActionRunsForTlsClient() throws Exception {
    var context = Certificates.context();
    var begun = new CountDownLatch(1);
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().text("/wait", exchange -> {
      exchange.onDisconnect(disconnected::countDown);
      begun.countDown();
      Patience.await(disconnected);
      return "";
    }).text("/", exchange -> {
      exchange.onDisconnect(noticed::incrementAndGet);
      return "x";
    }), o -> o.withTls(context));
    try (var socket = context.getSocketFactory().createSocket("localhost", server.port())) {
      for (int i = 0; i < 20; i++) {
        socket.getOutputStream().write(GET.getBytes());
        var response = new String(socket.getInputStream().readNBytes(15));
        assertEquals("HTTP/1.1 200 OK", response);
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\nx") < 0) head.append((char) socket.getInputStream().read());
      }
      socket.getOutputStream().write(GET.replace("/ ", "/wait ").getBytes());
      Patience.await(begun);
    }

    Patience.await(disconnected);
    assertEquals(0, noticed.get());
  }

  @Test
  void disconnectActionIsRefusedBeforeBodyWasRead() throws IOException {
    try (var logged = new Logged()) {
      open(HttpRoutes.none().text("/", exchange -> exchange.onDisconnect(() -> {}).bodyAsText()));

      var response = RawClient.sendAndReadAll(server.port(),
          "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab");

      assertEquals("500", RawClient.codes(response));
      assertTrue(logged.text().contains("cannot be noticed before its body was read"), logged.text());
    }
  }

  @Test
  void secondDisconnectActionIsRefused() throws IOException {
    try (var logged = new Logged()) {
      open(HttpRoutes.none().text("/",
          exchange -> exchange.onDisconnect(() -> {}).onDisconnect(() -> {}).bodyAsText()));

      assertEquals("500", RawClient.codes(RawClient.sendAndReadAll(server.port(), RawClient.get("/"))));
      assertTrue(logged.text().contains("GET / has an action for a disconnect already"), logged.text());
    }
  }

  @Test
  void failureOfDisconnectActionIsLogged() throws Exception {
    var gate = new Gate();
    try (var logged = new Logged()) {
      open(HttpRoutes.none().text("/", exchange -> {
        exchange.onDisconnect(() -> {
          disconnected.countDown();
          throw new IllegalStateException("planned");
        });
        gate.pass();
        return "";
      }));
      try (var client = new RawClient(server.port())) {
        client.send(GET);
        Patience.await(gate.entered);
      }
      Patience.await(disconnected);

      Patience.eventually(() -> logged.text().contains("planned"));
      assertTrue(logged.text().contains("because the client has disconnected and this action failed"), logged.text());
    }
  }

  /** The kill may interrupt the handler before the disconnect is noticed. */
  @Test
  void killedServerEndsHandlerThatWaitsForDisconnect() throws Exception {
    var begun = new CountDownLatch(1);
    var ended = new CountDownLatch(1);
    open(HttpRoutes.none().text("/", exchange -> {
      exchange.onDisconnect(disconnected::countDown);
      begun.countDown();
      try {
        disconnected.await();
      } finally {
        ended.countDown();
      }
      return "";
    }));
    try (var client = new RawClient(server.port())) {
      client.send(GET);
      Patience.await(begun);

      server.kill();

      Patience.await(ended);
    }
  }
}
