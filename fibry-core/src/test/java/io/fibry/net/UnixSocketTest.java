package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.Handler;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests servers that listen on a Unix domain socket. */
class UnixSocketTest {
  private static final int LARGE = 3_000_000; // more bytes than the buffers of a socket hold

  @TempDir
  Path folder;
  private Path file;
  private final ServerScope net = new ServerScope();

  @BeforeEach
  void nameFile() {
    file = folder.resolve("server.sock");
    assumeTrue(file.toString().length() < 100, "the temporary folder has a long name");
  }

  @AfterEach
  void close() {
    net.close();
  }

  private HttpServer open(UnaryOperator<HttpRoutes> routes, UnaryOperator<HttpOptions> options) {
    return HttpServer.open(net.scope.anonymous(), 0, routes.apply(HttpRoutes.none()),
        o -> options.apply(o.withUnixSocket(file)));
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(file));
  }

  private static void send(SocketChannel client, String text) throws IOException {
    Channels.newOutputStream(client).write(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private String sendAndReadAll(String request) throws IOException {
    try (var client = connect()) {
      send(client, request);
      return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  // ---- conversations

  @Promise("25.15")
  @Test
  void serverHandlesRequestsOfOneConnectionInOrder() throws IOException {
    open(r -> r.text("GET /{n}", exchange -> exchange.path("n")), o -> o);

    String responses = sendAndReadAll(
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n" + RawClient.get("/3"));

    assertEquals("200 200 200", RawClient.codes(responses));
    assertTrue(responses.endsWith("3"), responses);
  }

  @Promise("25.15")
  @Test
  void largeBodiesPassInBothDirections() throws Exception {
    var body = "abc".repeat(LARGE / 3);
    open(r -> r.text("POST /echo", HttpExchange::bodyAsText), o -> o.withMaxBody(LARGE));

    String response = sendAndReadAll(
        "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + LARGE + "\r\n\r\n" + body);

    assertTrue(response.endsWith("\r\n\r\n" + body));
  }

  /** One thread of the server reads while another thread waits for the client to read. */
  @Promise("25.15")
  @Test
  void clientMaySendEverythingBeforeItReads() throws Exception {
    openTcp(connection -> {
      var in = connection.inputStream();
      var written = Patience.callOnFiber(() -> write(connection));
      int read = 0;
      while (read < LARGE) {
        in.available();
        read += Math.max(0, in.read(new byte[10_000]));
      }
      Patience.value(written);
    }, o -> o);

    try (var client = connect()) {
      var sent = Patience.callOnFiber(() -> {
        Channels.newOutputStream(client).write(new byte[LARGE]);
        return null;
      });
      Patience.value(sent);

      assertEquals(LARGE, Channels.newInputStream(client).readAllBytes().length);
    }
  }

  private TcpAcceptor openTcp(Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(net.scope.anonymous(), 0, handler, o -> options.apply(o.withUnixSocket(file)));
  }

  private static Void write(TcpConnection connection) throws IOException {
    connection.outputStream().write(new byte[LARGE]);
    connection.outputStream().flush();
    return null;
  }

  /** The close runs on the timer thread, which must not wait for the reader or the writer. */
  @Promise("25.15")
  @Test
  void clientThatDoesNotReadIsCutOffWhileServerReads() throws Exception {
    var blocked = new Blocked();
    openTcp(blocked::converse, o -> o.withWriteLimit(Duration.ofMillis(50)));

    try (var client = connect()) {
      send(client, "!"); // so the reader waits for the second byte
      String reason = "did not take what was written to it within 50 ms (the write limit), so it was cut off";
      assertTrue(Patience.failure(blocked.written).getMessage().endsWith(reason));
      assertTrue(Patience.failure(blocked.read).getMessage().endsWith(reason));
      var fired = new CountDownLatch(1);
      Scheduler.system().schedule(Duration.ofMillis(1), fired::countDown);
      Patience.await(fired);
    }
  }

  /** A conversation with a client that reads nothing: one thread reads, and one thread writes. */
  private static final class Blocked {
    final CompletableFuture<Object> read = new CompletableFuture<>();
    final CompletableFuture<Object> written = new CompletableFuture<>();
    final CompletableFuture<Thread> reader = new CompletableFuture<>();
    final CompletableFuture<Thread> writer = new CompletableFuture<>();

    void converse(TcpConnection connection) throws Exception {
      reader.complete(Patience.startFiber(() -> {
        var in = connection.inputStream();
        in.read();
        in.available();
        return in.read();
      }, read));
      writer.complete(Thread.currentThread());
      try {
        written.complete(write(connection));
      } catch (Throwable failure) {
        written.completeExceptionally(failure);
        throw failure;
      } finally {
        Patience.eventually(read::isDone);
      }
    }

    void awaitParked() {
      Patience.awaitParked(Patience.value(reader));
      Patience.awaitParked(Patience.value(writer));
    }
  }

  @Promise("25.15")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endOfServerEndsReaderAndWriter(boolean isKilled) throws Exception {
    var blocked = new Blocked();
    var acceptor = openTcp(blocked::converse, o -> o.withDrainLimit(Duration.ofMillis(1)));
    try (var client = connect()) {
      send(client, "!");
      blocked.awaitParked();

      if (isKilled) acceptor.kill();
      else acceptor.sendPoisonPill();

      Patience.failure(blocked.written);
      Patience.eventually(blocked.read::isDone);
      Patience.awaitEnd(acceptor::waitForExit);
    }
    assertFalse(Files.exists(file));
  }

  @Promise("25.15")
  @Test
  void availableCountsBytesThatHaveArrived() throws Exception {
    var counts = new CompletableFuture<String>();
    var conversation = new CompletableFuture<Thread>();
    openTcp(connection -> {
      InputStream in = connection.inputStream();
      int atStart = in.available();
      send(connection, '?');
      Patience.eventually(() -> available(in) > 0);
      int arrived = in.available();
      String text = new String(in.readNBytes(5), StandardCharsets.US_ASCII);
      int atEnd = in.available();
      conversation.complete(Thread.currentThread());
      counts.complete(atStart + " " + arrived + " " + text + " " + atEnd + " " + (char) in.read());
    }, o -> o);

    try (var client = connect()) {
      assertEquals('?', Channels.newInputStream(client).read());
      send(client, "hello");
      var thread = Patience.value(conversation);
      Patience.eventually(() -> Patience.isParked(thread)); // the read waits, although it finds no bytes
      send(client, "!");

      assertEquals("0 5 hello 0 !", Patience.value(counts));
    }
  }

  private static void send(TcpConnection connection, char letter) throws IOException {
    connection.outputStream().write(letter);
    connection.outputStream().flush();
  }

  private static int available(InputStream in) {
    try {
      return in.available();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** On a port, an interrupted thread reads and writes, too, as long as it need not wait. */
  @Promise("25.15")
  @Test
  void interruptedHandlerReadsAndWrites() throws IOException {
    var sent = new CompletableFuture<Void>();
    openTcp(connection -> {
      Patience.value(sent);
      Thread.currentThread().interrupt();
      send(connection, (char) connection.inputStream().read());
    }, o -> o);

    try (var client = connect()) {
      send(client, "!");
      sent.complete(null);

      assertEquals('!', Channels.newInputStream(client).read());
    }
  }

  @Promise("25.15")
  @Test
  void silentClientIsCutOffAfterIdleLimit() throws IOException {
    open(r -> r.text("GET /", exchange -> "answer"), o -> o.withIdleLimit(Duration.ofMillis(50)));

    assertEquals("", sendAndReadAll(""));
  }

  @Promise("25.15")
  @Test
  void servedClientIsCutOffAfterIdleLimit() throws IOException {
    open(r -> r.text("GET /", exchange -> "answer"), o -> o.withIdleLimit(Duration.ofMillis(50)));

    assertTrue(sendAndReadAll("GET / HTTP/1.1\r\nHost: a\r\n\r\n").endsWith("answer"));
  }

  @Promise("25.15")
  @Test
  void proxyNamesItsClient() throws IOException {
    open(r -> r.text("GET /", exchange -> exchange.remoteAddress().getAddress().getHostAddress()),
        o -> o.withProxies("127.0.0.1"));

    String response =
        sendAndReadAll("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: 10.1.2.3\r\n\r\n");

    assertTrue(response.endsWith("10.1.2.3"), response);
  }

  // ---- the file

  /** A proxy often runs as another user. */
  @Promise("25.15")
  @Test
  void eachUserMayConnect() throws IOException {
    open(r -> r, o -> o);

    assertEquals("rw-rw-rw-", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
  }

  @Promise("25.15")
  @Test
  void endOfServerDeletesFileAndClosesConnections() throws IOException {
    var server = open(r -> r.text("GET /", exchange -> "answer"), o -> o);
    assertEquals(0, server.port());
    try (var client = connect()) {
      send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      var in = Channels.newInputStream(client);
      for (String response = ""; !response.endsWith("answer");) response += (char) in.read();
      server.close();

      assertEquals(-1, Channels.newInputStream(client).read());
    }
    assertFalse(Files.exists(file));
  }

  @Promise("25.15")
  @Test
  void fileOfKilledProcessIsReplaced() throws IOException {
    leaveFile();

    open(r -> r.text("GET /", exchange -> "answer"), o -> o);

    assertEquals("200", RawClient.codes(sendAndReadAll(RawClient.get("/"))));
  }

  /** Leaves the file of a server socket, as a killed process does. */
  private void leaveFile() throws IOException {
    try (var left = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      left.bind(UnixDomainSocketAddress.of(file));
    }
    assertTrue(Files.exists(file));
  }

  @Promise("25.15")
  @Test
  void fileOfNewerProcessIsNotDeleted() throws IOException {
    var server = open(r -> r, o -> o);
    Files.delete(file);
    leaveFile();

    server.close();

    assertTrue(Files.exists(file));
  }

  // ---- refusals

  @Promise("25.15")
  @Test
  void fileOfLivingServerIsRefused() throws IOException {
    open(r -> r.text("GET /", exchange -> "first"), o -> o);

    var refusal = assertThrows(IllegalStateException.class, () -> open(r -> r, o -> o));

    assertEquals("another program listens on the Unix domain socket " + file
        + "; end that program, or give another file", refusal.getMessage());
    assertTrue(sendAndReadAll(RawClient.get("/")).endsWith("first"));
  }

  @Promise("25.15")
  @Test
  void fileThatIsNoSocketIsRefusedAndKept() throws IOException {
    Files.writeString(file, "data");

    var refusal = assertThrows(UncheckedIOException.class, () -> open(r -> r, o -> o));

    assertTrue(refusal.getMessage().startsWith(
        "cannot listen on the Unix domain socket " + file + ": the file exists and is no socket"),
        refusal.getMessage());
    assertEquals("data", Files.readString(file));
  }

  @Promise("25.15")
  @Test
  void missingDirectoryAndLongPathAreRefused() {
    for (var path : new Path[] {folder.resolve("missing/server.sock"), folder.resolve("x".repeat(200))}) {
      var refusal = assertThrows(UncheckedIOException.class, () -> HttpServer.open(net.scope.anonymous(), 0,
          HttpRoutes.none(), o -> o.withUnixSocket(path)));

      assertTrue(refusal.getMessage().startsWith("cannot listen on the Unix domain socket " + path),
          refusal.getMessage());
    }
  }

  @Promise("25.15")
  @Test
  void portBesideFileIsRefused() {
    var refusal = assertThrows(IllegalArgumentException.class, () -> TcpAcceptor.open(net.scope.anonymous(), 8080,
        connection -> {}, o -> o.withUnixSocket(file)));

    assertEquals("a server listens on a port or on a file, but port 8080 and the file " + file
        + " were given; give port 0 with withUnixSocket(..)", refusal.getMessage());
  }
}
