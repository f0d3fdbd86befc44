package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpOptions;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.RawClient;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketOptions;
import io.fibry.support.Certificates;
import io.fibry.support.Logged;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which handshakes open a WebSocket, and which are refused. */
class WebSocketHandshakeTest {
  private final ServerScope net = new ServerScope();
  private HttpServer server;

  @AfterEach
  void close() {
    net.close();
  }

  private void open(UnaryOperator<WebSocketOptions> options) {
    open(options, defaults -> defaults);
  }

  private void open(UnaryOperator<WebSocketOptions> options, UnaryOperator<HttpOptions> serverOptions) {
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/chat", connection -> {
      connection.textActor().sendMessage(connection.path() + " " + connection.queryParameter("name").orElse("?") + " "
          + connection.header("x-y").orElse("?") + " " + connection.subprotocol().orElse("?") + " "
          + connection.tls().isPresent() + " " + connection.remoteAddress().getAddress().isLoopbackAddress());
    }, options).text("/", exchange -> "text"), serverOptions);
  }

  private void open() {
    open(options -> options);
  }

  private WebSocketPeer connect(String... headers) {
    return new WebSocketPeer(server.port(), "/chat?name=Ada", headers);
  }

  @Promise("27.14")
  @ParameterizedTest
  @CsvSource(nullValues = "none", value = {"http://other.example, which must also have the server's own pages",
    "none, allow it by withOrigins(..)"})
  void refusalOfOriginNamesItsRemedyInLogOnly(String allowedOrigin, String remedy) throws IOException {
    open(o -> allowedOrigin == null ? o : o.withOrigins(allowedOrigin));
    var origin = allowedOrigin == null ? "http://other.example" : "http://localhost:" + server.port();

    try (var logged = new Logged(); var client = new RawClient(server.port())) {
      client.send("GET /chat HTTP/1.1\r\nHost: localhost:" + server.port() + "\r\nConnection: Upgrade, close\r\n"
          + "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
          + "Origin: " + origin + "\r\n\r\n");
      var response = client.readToEnd();
      assertTrue(response.startsWith("HTTP/1.1 403 ")
          && response.endsWith("\r\n\r\n403 Forbidden: pages of this origin may not connect\n"), response);
      var line = logged.lines("1 WebSocket of foreign pages refused with 403").getFirst();
      assertTrue(line.contains("a page of '" + origin + "' called http://localhost:" + server.port())
          && line.contains(remedy), line);
    }
  }

  @Promise("27.14")
  @Test
  void handlerReadsRequestAndClientGetsHandshakeResponse() {
    open();

    try (var peer = connect("X-Y: z")) {
      assertEquals("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Accept: " + WebSocketPeer.ACCEPTANCE + "\r\n\r\n", peer.head);
      assertEquals("text /chat Ada z ? false true", peer.next().toString());
    }
  }

  @Promise("27.14")
  @ParameterizedTest
  @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
      Upgrade: websocket             | none                         | 426
      Upgrade: websocket             | Upgrade: h2c                 | 426
      Upgrade: websocket             | Upgrade: h2c, WebSocket      | 101
      keep-alive, Upgrade            | keep-alive                   | 426
      HTTP/1.1                       | HTTP/1.0                     | 426
      Sec-WebSocket-Version: 13      | none                         | 426
      Sec-WebSocket-Version: 13      | Sec-WebSocket-Version: 8     | 426
      Sec-WebSocket-Version: 13      | Sec-WebSocket-Version: 13, 8 | 426
      dGhlIHNhbXBsZSBub25jZQ==       | none                         | 400
      dGhlIHNhbXBsZSBub25jZQ==       | dGhlIHNhbXBsZSBub25j         | 400
      dGhlIHNhbXBsZSBub25jZQ==       | dGhlIHNhbXBsZSBub25jZQ==, a  | 400
      dGhlIHNhbXBsZSBub25jZQ==       | dGhlIHNhbXBsZSBub25jZQäö     | 400
      GET                            | POST                         | 405
      GET                            | HEAD                         | 405
      Host: localhost                | Host: a;Content-Length: 1    | 400
      Host: localhost                | Host: a;Origin: http://b     | 403
      Host: localhost                | Host: a;Origin: http://a     | 403
      Host: localhost                | Host: [::1];Origin: http://[::1] | 101
      Host: localhost                | Host: 10.0.0.1;Origin: http://10.0.0.1 | 101
      Host: localhost                | Host: localhost:80;Origin: http://localhost | 101
      Host: localhost                | Host: localhost:8080;Origin: http://localhost | 403
      Host: localhost                | Host: localhost:8080;Origin: http://localhost:8080 | 101
      Host: localhost                | Host: a.localhost;Origin: http://a.localhost | 101
      /chat                          | /                            | 200
      """)
  void invalidHandshakeIsRefused(String part, String replacement, int code) throws IOException {
    open();
    var request = WebSocketPeer.request("/chat", "Connection: close").replace(part,
        replacement == null ? "X: y" : replacement.replace(";", "\r\n"));

    var response = RawClient.sendAndReadAll(server.port(), request);

    assertEquals("" + code, code == 101 ? response.substring(9, 12) : RawClient.codes(response), response);
    if (code == 426) assertTrue(response.contains("\r\nSec-WebSocket-Version: 13\r\n")
        && response.contains("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"), response);
    if (code == 405) assertTrue(response.contains("\r\nAllow: GET, OPTIONS\r\n"), response);
  }

  @Test
  void refusedUpgradeKeepsConnectionOpen() throws IOException {
    open();
    try (var client = new RawClient(server.port())) {
      assertEquals("426", RawClient.codes(client.send("GET /chat HTTP/1.1\r\nHost: a\r\n\r\n").readResponse()));

      assertTrue(client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").readResponse().endsWith("text"));
    }
  }

  @Test
  void extensionsAreNotNegotiated() {
    open();

    try (var peer = connect("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")) {
      assertFalse(peer.head.contains("Extensions"), peer.head);
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
      b, a   | a
      c,a    | a
      c      | none
      A      | none
      """)
  void firstKnownSubprotocolOfClientIsChosen(String offeredProtocols, String protocol) {
    open(o -> o.withSubprotocols("a", "d"));

    try (var peer = connect("Sec-WebSocket-Protocol: " + offeredProtocols)) {
      assertEquals(protocol != null, peer.head.contains("\r\nSec-WebSocket-Protocol: " + protocol + "\r\n"), peer.head);
      assertEquals("text /chat Ada ? " + (protocol == null ? "?" : protocol) + " false true", peer.next().toString());
    }
  }

  @Promise("27.14")
  @ParameterizedTest
  @CsvSource(nullValues = "none", textBlock = """
      none, http://localhost, 101
      none, http://LOCALHOST, 101
      none, http://localhost:80, 101
      none, https://localhost, 403
      none, app://localhost, 403
      none, http://localhost:81, 403
      none, http://localhost.evil.example, 403
      none, http://, 403
      none, null, 403
      https://shop.example, https://shop.example, 101
      https://shop.example, HTTPS://Shop.example, 101
      https://shop.example:443, https://shop.example, 101
      https://shop.example, http://shop.example, 403
      https://shop.example, http://localhost, 403
      *, http://evil.example, 101
      """)
  void onlyPagesOfOwnHostOrListedOriginsMayConnect(String allowedOrigin, String origin, int code) {
    open(o -> allowedOrigin == null ? o : o.withOrigins("http://other.example", allowedOrigin));

    try (var peer = connect("Origin: " + origin)) {
      assertEquals("" + code, peer.head.substring(9, 12));
    }
  }

  /** A named proxy decrypts TLS and gives the browser's scheme. */
  @Promise("27.34")
  @ParameterizedTest
  @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
      X-Forwarded-Proto: https        | https://localhost     | 101
      X-Forwarded-Proto: https        | https://localhost:443 | 101
      X-Forwarded-Proto: wss          | https://localhost     | 101
      Forwarded: for=1.2.3.4; Proto="https";host=a | https://localhost | 101
      Forwarded: for=1.2.3.4;proto=https, for=127.0.0.1;proto=http | https://localhost | 101
      X-Forwarded-Proto: https        | http://localhost      | 403
      X-Forwarded-Proto: https        | https://localhost:80  | 403
      X-Forwarded-Proto: https        | https://evil.example  | 403
      X-Forwarded-Proto: http         | http://localhost      | 101
      Forwarded: for=1.2.3.4          | https://localhost     | 403
      """)
  void originMustHaveSchemeThatConfiguredProxyReports(String header, String origin, int code) {
    open(options -> options, limits -> limits.withProxies("127.0.0.1"));

    try (var peer = connect(header, "Origin: " + origin)) {
      assertEquals("" + code, peer.head.substring(9, 12));
    }
  }

  @Promise("27.34")
  @Test
  void schemeReportedByUnconfiguredProxyIsIgnored() {
    open();

    try (var peer = connect("X-Forwarded-Proto: https", "Origin: https://localhost")) {
      assertEquals("403", peer.head.substring(9, 12));
    }
  }

  /**
   * Only configured hosts may be origins: the owner of any other name could let that name resolve
   * to this server (DNS rebinding).
   */
  @Promise("27.14")
  @Test
  void originOfConfiguredHostMayConnect() throws IOException {
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/", connection -> {}),
        o -> o.withHosts("shop.example", "localhost"));
    var request = WebSocketPeer.request("/", "Connection: close").replace("Host: localhost",
        "Host: shop.example\r\nOrigin: http://shop.example");

    assertTrue(RawClient.sendAndReadAll(server.port(), request).startsWith("HTTP/1.1 101 "));
    assertTrue(RawClient.sendAndReadAll(server.port(), request.replace("shop.", "evil.")).startsWith("HTTP/1.1 421 "));
  }

  @Promise("27.14")
  @Test
  void unencryptedPageMayNotConnectToEncryptedServer() throws IOException {
    var context = Certificates.context();
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/", connection -> {}),
        o -> o.withTls(context));
    for (var scheme : List.of("http", "https")) try (var socket = Certificates.connect(context, server.port())) {
      socket.getOutputStream().write(WebSocketPeer
          .request("/", "Connection: close", "Origin: " + scheme + "://localhost").getBytes(StandardCharsets.UTF_8));

      assertEquals(scheme.equals("http") ? "403" : "101",
          new String(socket.getInputStream().readNBytes(12), StandardCharsets.UTF_8).substring(9));
    }
  }

  @Test
  void invalidServerOptionsAreRefused() {
    assertEquals("'shop.example' is not an origin; give scheme and host as in \"https://shop.example\", or \"*\"",
        assertThrows(IllegalArgumentException.class, () -> open(o -> o.withOrigins("shop.example"))).getMessage());
    assertEquals("'a b' cannot be the name of a subprotocol; give letters, digits, dashes and dots",
        assertThrows(IllegalArgumentException.class, () -> open(o -> o.withSubprotocols("a b"))).getMessage());
    assertThrows(IllegalArgumentException.class, () -> open(o -> o.withMaxMessage(0)));
    assertThrows(IllegalArgumentException.class, () -> open(o -> o.withMaxFrame(0)));
    assertThrows(IllegalArgumentException.class, () -> open(o -> o.withMaxUnsent(-1)));
    assertThrows(IllegalArgumentException.class, () -> open(o -> o.withIdleLimit(java.time.Duration.ZERO)));
    assertEquals("handler", assertThrows(NullPointerException.class,
        () -> HttpRoutes.none().webSocket("/", null)).getMessage());
    assertEquals("options", assertThrows(NullPointerException.class,
        () -> HttpRoutes.none().webSocket("/", connection -> {}, null)).getMessage());
  }
}
