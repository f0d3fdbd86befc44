package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Certificates;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests HTTP over TLS. */
class HttpsTest {
  private static final int CLIENTS = Soak.ON ? 300 : 40;
  private static final SSLContext CONTEXT = Certificates.context();

  private final Clock clock = new Clock();
  private final ServerScope net = new ServerScope(o -> o.withScheduler(clock).withKillGrace(Patience.LONG));
  // the client also offers HTTP/2
  private final HttpClient client = HttpClient.newBuilder().sslContext(CONTEXT).build();
  private final CountDownLatch countBegun = new CountDownLatch(1);
  private HttpServer server;

  @AfterEach
  void close() {
    client.close();
    net.close();
  }

  private void open(UnaryOperator<HttpOptions> options) {
    var routes = HttpRoutes.none().text("/hello", exchange -> "hello " + exchange.tls().isPresent())
        .text("/count", exchange -> {
          countBegun.countDown();
          return "" + exchange.body().readAllBytes().length;
        })
        .stream("/large", exchange -> {
          for (int i = 0; i < 100; i++) exchange.outputStream().write(new byte[10_000]);
        }).stream("/half", exchange -> {
          exchange.header("Content-Length", "10").outputStream().write("half".getBytes(StandardCharsets.US_ASCII));
          exchange.outputStream().flush();
          throw new IllegalStateException("made up");
        });
    server = HttpServer.open(net.scope.anonymous(), 0, routes,
        o -> options.apply(o.withTls(CONTEXT).withMaxBody(10_000_000)));
  }

  private void open() {
    open(options -> options);
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("https://localhost:" + server.port() + path));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  @Test
  void clientGetsResponsesOverTls() throws Exception {
    open();

    var response = send(request("/hello"));

    assertEquals("hello true", response.body());
    assertEquals(HttpClient.Version.HTTP_1_1, response.version());
    assertEquals(HttpClient.Version.HTTP_1_1, send(request("/hello")).version()); // on the same connection
  }

  @Test
  void bodiesOfAnySizeArriveComplete() throws Exception {
    open();
    for (int size : new int[] {0, 1, 1_000, 16_383, 16_384, 16_385, 3_000_000})
      assertEquals("" + size, send(request("/count").POST(BodyPublishers.ofByteArray(new byte[size]))).body());

    assertEquals(1_000_000, client.send(request("/large").build(), BodyHandlers.ofByteArray()).body().length);
  }

  @Test
  void manyRequestsAtOnceGetResponses() {
    open();

    var responses = IntStream.range(0, CLIENTS)
        .mapToObj(i -> client.sendAsync(request("/hello").build(), BodyHandlers.ofString())).toList();

    for (var response : responses) assertEquals("hello true", response.join().body());
  }

  @Test
  void clientGetsErrorIfHandlerFailsAfterPartOfBody() {
    open();

    assertThrows(IOException.class, () -> send(request("/half")));
  }

  @Test
  void serverNegotiatesOnlyHttp11() throws Exception {
    open();
    try (var socket = Certificates.connect(CONTEXT, server.port())) {
      var parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      assertEquals("http/1.1", socket.getApplicationProtocol());
    }
    try (var socket = Certificates.connect(CONTEXT, server.port())) {
      var parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      assertThrows(SSLException.class, socket::startHandshake);
    }
  }

  @Test
  void requestTargetMayBeAbsoluteHttpsUri() throws Exception {
    open();
    assertTrue(responseTo("GET https://localhost/hello HTTP/1.1\r\nHost: localhost:443\r\nConnection: close\r\n\r\n")
        .startsWith("HTTP/1.1 200 OK"));
    assertTrue(responseTo("GET http://localhost/hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .startsWith("HTTP/1.1 400 Bad Request"));
  }

  private String responseTo(String request) throws IOException {
    try (var socket = Certificates.connect(CONTEXT, server.port())) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  @Test
  void headerLimitCutsOffClientDuringTlsHandshake() throws Exception {
    open(o -> o.withHeaderLimit(Duration.ofSeconds(3)));
    try (var handshakingPeer = new Peer(server.port())) {
      handshakingPeer.send(new byte[] {22, 3, 1, 2, 0, 1});

      CompletableFuture<Boolean> result = Patience.callOnFiber(() -> isCutOff(handshakingPeer));
      Patience.eventually(() -> {
        clock.manual.advance(Duration.ofSeconds(1));
        return result.isDone();
      });
      assertTrue(result.join());
    }
  }

  private static boolean isCutOff(Peer peer) {
    try {
      return peer.readToEnd().isEmpty();
    } catch (UncheckedIOException reset) {
      return true;
    }
  }

  /** Idle connections are closed immediately, and running exchanges get their responses. */
  @Test
  void closeWaitsForRunningExchanges() throws Exception {
    open();
    try (var idleSocket = Certificates.connect(CONTEXT, server.port());
        var busySocket = Certificates.connect(CONTEXT, server.port())) {
      send(idleSocket, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
      // the client has received the first byte of a response, so the exchange was handled
      assertTrue(idleSocket.getInputStream().read() >= 0);
      send(busySocket, "POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nha");
      Patience.await(countBegun);

      var closeFuture = CompletableFuture.runAsync(net.scope::close);
      idleSocket.getInputStream().readAllBytes();
      send(busySocket, "lf");

      assertTrue(new String(busySocket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
          .endsWith("\r\n\r\n4"));
      closeFuture.join();
    }
  }

  private static void send(SSLSocket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void forwarderUsesTlsToClientsButNotToTarget() throws Exception {
    var plainServer = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().text("/hello", exchange -> "behind"),
        o -> o);
    var forwarder = TcpAcceptor.forward(net.scope.anonymous(), 0,
        new InetSocketAddress("localhost", plainServer.port()), o -> o.withTls(CONTEXT));

    var response = client.send(HttpRequest.newBuilder(URI.create("https://localhost:" + forwarder.port() + "/hello"))
        .build(), BodyHandlers.ofString());

    assertEquals("behind", response.body());
  }

  @Test
  void clientWithoutTrustFailsAtHandshake() {
    open();
    var stranger = Certificates.of("stranger", "EC");
    try (var otherClient = HttpClient.newBuilder().sslContext(Certificates.context(stranger, stranger)).build()) {
      var failure =
          assertThrows(IOException.class, () -> otherClient.send(request("/hello").build(), BodyHandlers.ofString()));
      assertInstanceOf(SSLException.class, failure);
    }
    assertEquals("hello true", client.sendAsync(request("/hello").build(), BodyHandlers.ofString()).join().body());
  }
}
