package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how responses are framed, and whether the connection stays open after them. */
@SuppressWarnings("try") // the variable of the log is never read
class ServerResponseTest {
  private static final String HOST = " HTTP/1.1\r\nHost: a\r\n";

  // the clock does not advance, so no slow client is cut off before it has its response
  private final ActorScope scope = ActorSystem.openScope("answers", o -> o.withScheduler(new ManualScheduler()));
  private HttpServer server;

  private void open(UnaryOperator<HttpRoutes> routes) {
    server = HttpServer.open(scope.anonymous(), 0, routes.apply(HttpRoutes.none()), o -> o);
  }

  private String talk(String request) throws IOException {
    return RawClient.sendAndReadAll(server.port(), request);
  }

  private static String withoutDate(String response) {
    return response.replaceAll("Date: [^\r]*\r\n", "");
  }

  @AfterEach
  void close() {
    scope.close();
  }

  @Test
  void headRequestGetsResponseWithoutBody() throws IOException {
    open(routes -> routes.text("/t", exchange -> "text").stream("/s",
        exchange -> exchange.outputStream().write(new byte[5])));

    assertEquals(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\nConnection: close\r\n\r\n",
        withoutDate(talk("HEAD /t" + HOST + "Connection: close\r\n\r\n")));
    assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
        withoutDate(talk("HEAD /s" + HOST + "Connection: close\r\n\r\n")));
  }

  /**
   * In HTTP/1.0 the end of the connection ends the response, so a failure must not look like a
   * normal end.
   */
  @Promise("25.10")
  @Test
  void http10ClientGetsErrorWhenHandlerFailsDuringResponse() throws IOException {
    open(routes -> routes.stream("/", exchange -> {
      exchange.outputStream().write(new byte[100]);
      exchange.outputStream().flush();
      throw new IllegalStateException("for a test");
    }));
    try (var logged = new Logged(); var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.0\r\n\r\n");

      assertThrows(SocketException.class, () -> client.socket.getInputStream().readAllBytes());
      assertTrue(logged.text().contains("was answered by closing the connection, because the response had begun"),
          logged.text());
    }
  }

  @Test
  void responseIsCompleteDespiteUnreadInputOfClient() throws IOException {
    var handlerBegun = new CountDownLatch(1);
    var sent = new CountDownLatch(1);
    open(routes -> routes.stream("/", exchange -> {
      handlerBegun.countDown();
      Patience.await(sent);
      exchange.outputStream().write(new byte[200_000]);
    }));
    try (var socket = new Socket()) {
      // with a small buffer, most of the response is still at the server when the server closes
      socket.setReceiveBufferSize(4_096);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
      var out = socket.getOutputStream();
      out.write(("GET /" + HOST + "Connection: close\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
      Patience.await(handlerBegun);
      out.write("GET".getBytes(StandardCharsets.ISO_8859_1));

      sent.countDown();

      assertTrue(socket.getInputStream().readAllBytes().length > 200_000);
    }
  }

  @Test
  void http10ConnectionStaysOpenOnlyIfClientRequestsIt() throws IOException {
    open(routes -> routes.text("/", exchange -> "x"));

    assertTrue(talk("GET / HTTP/1.0\r\n\r\n").contains("\r\nConnection: close\r\n"));
    try (var client = new RawClient(server.port())) {
      client.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
      assertTrue(client.readResponse().contains("\r\nConnection: keep-alive\r\n"));
      assertTrue(client.send("GET / HTTP/1.0\r\n\r\n").readToEnd().contains("\r\nConnection: close\r\n"));
    }
  }

  @Test
  void http10ClientReadsLongResponseUntilEndOfConnection() throws IOException {
    open(routes -> routes.stream("/", exchange -> {
      exchange.outputStream().write(new byte[10_000]);
      exchange.outputStream().flush();
    }));

    var response = talk("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");

    assertTrue(withoutDate(response).startsWith("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\0"),
        response.substring(0, 100));
    assertEquals(10_000, response.length() - response.indexOf("\r\n\r\n") - 4);
  }

  @Test
  void flushedResponseIsSentInChunks() throws IOException {
    open(routes -> routes.stream("/", exchange -> {
      var out = exchange.header("Content-Type", "a/b").outputStream();
      out.write('a');
      out.flush();
      out.flush();
      out.write("bcdefghijklmnopq".getBytes());
    }));

    var response = talk("GET /" + HOST + "Connection: close\r\n\r\n");

    assertEquals(
        "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\nConnection: "
            + "close\r\n\r\n1\r\na\r\n10\r\nbcdefghijklmnopq\r\n0\r\n\r\n",
        withoutDate(response));
  }

  @Test
  void shortResponseIsSentWithItsLength() throws IOException {
    open(routes -> routes.stream("/s", exchange -> exchange.outputStream().write("abc".getBytes()))
        .stream("/n", exchange -> exchange.status(204)).stream("/e", exchange -> {}));

    assertTrue(talk("GET /s" + HOST + "Connection: close\r\n\r\n").contains("\r\nContent-Length: 3\r\n"));
    assertEquals("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        withoutDate(talk("GET /n" + HOST + "Connection: close\r\n\r\n")));
    assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        withoutDate(talk("GET /e" + HOST + "Connection: close\r\n\r\n")));
  }

  @Promise("27.11")
  @Test
  void responseWithStatus205HasNoBody() throws IOException {
    open(routes -> routes.text("/t", exchange -> exchange.status(205).path())
        .stream("/s",
            exchange -> exchange.status(205).header("Content-Length", "3").outputStream().write("abc".getBytes()))
        .stream("/f", exchange -> exchange.status(205).outputStream().flush())
        .stream("/e", exchange -> exchange.status(205).eventActor().sendMessage("abc")));

    for (var path : new String[] {"/t", "/s", "/f", "/e"}) {
      var response = talk("GET " + path + HOST + "Connection: close\r\n\r\n");

      assertTrue(response.startsWith("HTTP/1.1 205 Reset Content\r\n"), response);
      assertTrue(response.contains("\r\nContent-Length: 0\r\n") && response.endsWith("\r\n\r\n"), response);
      assertEquals(response.indexOf("\r\n\r\n"), response.length() - 4, response);
    }
  }

  @Test
  void responseBodyMustHaveDeclaredLength() throws IOException {
    open(routes -> routes
        .stream("/less", exchange -> exchange.header("Content-Length", "5").outputStream().write("abc".getBytes()))
        .stream("/more", exchange -> {
          exchange.header("Content-Length", "2").outputStream().write("ab".getBytes());
          assertThrows(IOException.class, () -> exchange.outputStream().write('c'));
        }));

    // the server closes after the short response, too, so the client sees that the response is
    // incomplete
    assertTrue(talk("GET /less" + HOST + "\r\n").endsWith("\r\nContent-Length: 5\r\n\r\nabc"));
    assertTrue(talk("GET /more" + HOST + "Connection: close\r\n\r\n").endsWith("\r\n\r\nab"));
  }

  @Test
  void begunResponseIsCutOffWhenHandlerFails() throws IOException {
    open(routes -> routes.stream("/", exchange -> {
      exchange.outputStream().write("abc".getBytes());
      exchange.outputStream().flush();
      throw new IllegalStateException("late");
    }));
    try (var logged = new Logged()) {
      var response = talk("GET /" + HOST + "\r\n");

      assertTrue(response.endsWith("3\r\nabc\r\n"), response);
    }
  }

  @Test
  void bufferedResponseBecomes500WhenHandlerFails() throws IOException {
    open(routes -> routes.stream("/", exchange -> {
      exchange.header("X-Mine", "1").outputStream().write("abc".getBytes());
      throw new IllegalStateException("early");
    }));
    try (var logged = new Logged(); var client = new RawClient(server.port())) {
      var response = client.send("GET /" + HOST + "\r\n").readResponse();

      assertTrue(response.startsWith("HTTP/1.1 500 ") && !response.contains("X-Mine") && !response.contains("close"),
          response);
      assertTrue(client.send("GET /" + HOST + "Connection: close\r\n\r\n").readToEnd().startsWith("HTTP/1.1 500 "));
    }
  }

  @Test
  void clientGets100ContinueOnlyWhenHandlerReadsBody() throws IOException {
    open(routes -> routes.text("/read", HttpExchange::bodyAsText).text("/not", exchange -> "no"));
    try (var client = new RawClient(server.port())) {
      client.send("POST /read" + HOST + "Expect: 100-Continue\r\nContent-Length: 3\r\n\r\n");
      assertEquals("HTTP/1.1 100 Continue\r\n\r\n", client.readResponse());
      assertTrue(client.send("abc").readResponse().endsWith("\r\n\r\nabc"));

      client.send("POST /not" + HOST + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
      // the server closes the connection, because it cannot know whether the body will follow
      assertTrue(client.readToEnd().contains("\r\nConnection: close\r\n"));
    }
  }

  @Test
  void unreadRequestBodyIsDiscardedBeforeNextRequest() throws IOException {
    open(routes -> routes.text("/", exchange -> exchange.path()));

    assertEquals("200 200", RawClient
        .codes(talk("POST /" + HOST + "Content-Length: 60000\r\n\r\n" + "a".repeat(60_000) + RawClient.get("/"))));
    assertEquals("200 200", RawClient.codes(
        talk("POST /" + HOST + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n" + RawClient.get("/"))));
    assertEquals("200",
        RawClient.codes(talk("POST /" + HOST + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + RawClient.get("/"))));
    assertEquals("200", RawClient
        .codes(talk("POST /" + HOST + "Content-Length: 70000\r\n\r\n" + "a".repeat(70_000) + RawClient.get("/"))));
  }

  @Promise("27.7")
  @Test
  void halfClosedClientGetsItsResponse() throws IOException {
    open(routes -> routes.text("/", HttpExchange::bodyAsText));
    try (var client = new RawClient(server.port())) {
      client.send("POST /" + HOST + "Content-Length: 3\r\n\r\nabc");
      client.socket.shutdownOutput();

      assertTrue(client.readToEnd().endsWith("\r\n\r\nabc"));
    }
  }

  @Test
  void requestBodyThatEndsEarlyGets400() throws IOException {
    open(routes -> routes.text("/", HttpExchange::bodyAsText));
    for (var headersAndBody : new String[] {"Content-Length: 3\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n3\r\nab",
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"})
      try (var client = new RawClient(server.port())) {
        client.send("POST /" + HOST + headersAndBody);
        client.socket.shutdownOutput();

        assertEquals("400", RawClient.codes(client.readToEnd()));
      }
  }

  @Test
  void exchangeRefusesUseAfterItsHandlerReturned() throws IOException {
    var exchangeOfHandler = new AtomicReference<HttpExchange>();
    var out = new AtomicReference<OutputStream>();
    open(routes -> routes.stream("/", exchange -> {
      exchangeOfHandler.set(exchange);
      out.set(exchange.outputStream());
    }));
    talk("POST /" + HOST + "Connection: close\r\nContent-Length: 1\r\n\r\na");

    assertThrows(IOException.class, () -> exchangeOfHandler.get().body().read());
    assertThrows(IOException.class, () -> out.get().write(1));
    assertThrows(IllegalStateException.class, () -> exchangeOfHandler.get().status(201));
  }

  @Test
  void invalidHeaderOrStatusIsRefusedImmediately() throws IOException {
    open(routes -> routes.stream("/", exchange -> {
      for (var invalid : new String[] {"a\rb", "a\nb", "a\0b", "\u0100"})
        assertThrows(IllegalArgumentException.class, () -> exchange.header("X", invalid));
      for (var invalid : new String[] {"", "a b", "a:", "\u00e4", "a\r\n"})
        assertThrows(IllegalArgumentException.class, () -> exchange.header(invalid, "x"));
      for (var invalid : new String[] {"Transfer-Encoding", "Connection", "Upgrade", "Content-Length"})
        assertThrows(IllegalArgumentException.class, () -> exchange.header(invalid, "x"));
      for (int invalid : new int[] {99, 101, 199, 600, -1})
        assertThrows(IllegalArgumentException.class, () -> exchange.status(invalid));
      assertThrows(NullPointerException.class, () -> exchange.header("X", null));
      exchange.header("Set-Cookie", "a").header("set-cookie", "b").header("X-One", "1").header("x-one", "2").status(299)
          .outputStream();
      assertThrows(IllegalStateException.class, () -> exchange.status(200));
    }).text("/text", exchange -> {
      assertThrows(IllegalStateException.class, exchange::outputStream);
      assertThrows(IllegalStateException.class, exchange::eventActor);
      return "ok";
    }));

    var response = talk("GET /" + HOST + "Connection: close\r\n\r\n");

    assertTrue(response.startsWith("HTTP/1.1 299 Success\r\n")
        && response.contains("\r\nSet-Cookie: a\r\nset-cookie: b\r\nx-one: 2\r\n"), response);
    assertFalse(response.contains("X-One"), response);
    assertTrue(talk("GET /text" + HOST + "Connection: close\r\n\r\n").endsWith("ok"));
  }
}
