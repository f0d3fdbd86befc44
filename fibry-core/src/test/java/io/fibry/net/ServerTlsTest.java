package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Certificates;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests TLS connections with clients of the JDK. */
class ServerTlsTest {
  private static final SSLContext CONTEXT = Certificates.context();

  private final ServerScope net = new ServerScope();
  private final LinkedBlockingQueue<String> reports = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    net.close();
  }

  private TcpAcceptor open(UnaryOperator<TcpOptions> options) {
    return net.open(this::echo, o -> options.apply(o.withTls(CONTEXT)));
  }

  private TcpAcceptor open() {
    return open(options -> options);
  }

  /** Echoes each line, and reports how the conversation ended. */
  private void echo(TcpConnection client) {
    try {
      for (var line : client.lines()) client.lineActor().sendMessage(line);
      reports.add("the end");
    } catch (RuntimeException failure) {
      reports.add(failure.getCause().getMessage().replaceAll("client \\S+", "the client"));
      throw failure;
    }
  }

  private String nextReport() {
    return Patience.nextOf(reports);
  }

  private static SSLSocket connect(TcpAcceptor acceptor, String... protocols) throws IOException {
    return Certificates.connect(CONTEXT, acceptor.port(), protocols);
  }

  private static BufferedReader readerOf(SSLSocket socket) throws IOException {
    return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  private static void send(SSLSocket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void linesAreEchoedOverTls(String protocol) throws Exception {
    try (var socket = connect(open(), protocol)) {
      send(socket, "hello\nwor");
      send(socket, "ld\n");

      var in = readerOf(socket);
      assertEquals("hello", in.readLine());
      assertEquals("world", in.readLine());
      assertEquals(protocol, socket.getSession().getProtocol());
    }
    assertEquals("the end", nextReport());
  }

  @Test
  void serverMaySendBytesBeforeClientDoes() throws Exception {
    var acceptor = net.open(client -> client.outputStream().write("welcome\n".getBytes()), o -> o.withTls(CONTEXT));

    try (var socket = connect(acceptor)) {
      assertEquals("welcome", readerOf(socket).readLine());
      assertEquals(-1, socket.getInputStream().read());
    }
  }

  /** The client ends its output after its data, and then waits for the response. */
  @Test
  void clientGetsResponseAfterItEndedItsOutput() throws Exception {
    var acceptor = net.open(client -> {
      var data = client.inputStream().readAllBytes();
      client.outputStream().write((data.length + "\n").getBytes());
    }, o -> o.withTls(CONTEXT));

    try (var socket = connect(acceptor, "TLSv1.3")) {
      socket.getOutputStream().write(new byte[100_000]);
      socket.shutdownOutput();

      assertEquals("100000", readerOf(socket).readLine());
    }
  }

  @Test
  void bothSidesMaySendManyBytesAtOnce() throws Exception {
    var acceptor = net.open(client -> {
      var buffer = new byte[70_000];
      for (int count; (count = client.inputStream().read(buffer)) >= 0;)
        client.outputStream().write(buffer, 0, count);
    }, o -> o.withTls(CONTEXT));
    long seed = StressRuns.seed();
    System.out.println("bytes sent by TLS: -Dfibry.seed=" + seed);
    var sent = new byte[5_000_000];
    new Random(seed).nextBytes(sent);

    try (var socket = connect(acceptor)) {
      var sender = CompletableFuture.runAsync(() -> {
        var random = new Random(seed);
        try {
          for (int offset = 0, count; offset < sent.length; offset += count) {
            count = Math.min(sent.length - offset, 1 + random.nextInt(40_000));
            socket.getOutputStream().write(sent, offset, count);
          }
        } catch (IOException failure) {
          throw new AssertionError(failure);
        }
      });

      assertTrue(Arrays.equals(sent, socket.getInputStream().readNBytes(sent.length)));
      sender.get();
    }
  }

  /** Some cipher suites need new keys after much data, and any client may request them. */
  @Test
  void clientMayRenewKeysDuringConnection() throws Exception {
    try (var socket = connect(open(), "TLSv1.3")) {
      var in = readerOf(socket);
      for (int i = 0; i < 5; i++) {
        send(socket, "line " + i + "\n");
        socket.startHandshake(); // in TLS 1.3, this also asks the server for new keys
        assertEquals("line " + i, in.readLine());
      }
    }
  }

  @Promise("25.12")
  @Test
  void renegotiationIsRefused() throws Exception {
    try (var socket = connect(open(), "TLSv1.2")) {
      send(socket, "hello\n");
      assertEquals("hello", readerOf(socket).readLine());

      assertThrows(IOException.class, () -> {
        socket.startHandshake();
        send(socket, "again\n");
        readerOf(socket).readLine();
      });
    }
    assertEquals("the client was cut off by TLS: it wants to negotiate again, which is refused", nextReport());
  }

  // ---- ends

  @Promise("25.12")
  @Test
  void streamThatEndsWithoutCloseNotifyFails() throws Exception {
    var acceptor = open();
    try (var plainPeer = new Peer(acceptor.port())) {
      var socket =
          (SSLSocket) CONTEXT.getSocketFactory().createSocket(plainPeer.socket, "localhost", acceptor.port(), false);
      send(socket, "hello\nworl");
      assertEquals("hello", readerOf(socket).readLine());
      plainPeer.socket.shutdownOutput();

      assertEquals("the client was cut off by TLS: it ended its stream without saying so in TLS (no close_notify), so "
          + "its bytes may be incomplete", nextReport());
    }
  }

  @Test
  void clientOfKilledAcceptorReadsErrorInsteadOfNormalEnd() throws Exception {
    var acceptor = open();
    try (var socket = connect(acceptor)) {
      send(socket, "hello\n");
      var in = readerOf(socket);
      assertEquals("hello", in.readLine());
      acceptor.kill();

      assertThrows(IOException.class, in::readLine);
    }
  }

  @Test
  void clientReadsNormalEndWhenAcceptorIsAskedToEnd() throws Exception {
    var acceptor = open(o -> o.withDrainLimit(Patience.LONG));
    try (var socket = connect(acceptor)) {
      send(socket, "hello\n");
      var in = readerOf(socket);
      assertEquals("hello", in.readLine());
      acceptor.askExit();

      assertEquals(null, in.readLine());
    }
    assertEquals("the end", nextReport());
    acceptor.waitForExit();
  }

  @Promise("25.12")
  @Test
  void endOfAcceptorDoesNotWaitForUnfinishedHandshake() throws Exception {
    var acceptor = open(o -> o.withIdleLimit(Duration.ofMinutes(5)).withDrainLimit(Duration.ofMinutes(5)));
    try (var silentPeer = new Peer(acceptor.port()); var handshakingPeer = new Peer(acceptor.port())) {
      handshakingPeer.send(new byte[] {22, 3, 1, 2, 0, 1});
      Patience.eventually(() -> acceptor.connections().size() == 2);

      acceptor.sendPoisonPill();

      Patience.awaitEnd(acceptor::waitForExit);
      assertEquals("", silentPeer.readToEnd() + handshakingPeer.readToEnd());
    }
  }

  // ---- clients without TLS, and slow clients

  /** The server must reply to each request for new keys with new keys of its own. */
  @Soak(counterpart = "TcpLimitsTest.clientThatNeverReadsIsCutOffAtWriteLimit")
  @Test
  void clientThatRequestsKeysWithoutReadingIsCutOffAtWriteLimit() throws Exception {
    var acceptor = open(o -> o.withIdleLimit(ChronoUnit.FOREVER.getDuration()).withWriteLimit(Duration.ofMillis(300)));
    try (var plainSocket = new Socket()) {
      plainSocket.setReceiveBufferSize(4_096);
      plainSocket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), acceptor.port()));
      var socket =
          (SSLSocket) CONTEXT.getSocketFactory().createSocket(plainSocket, "localhost", acceptor.port(), false);
      assertThrows(IOException.class, () -> {
        while (true) socket.startHandshake(); // until replies fill the socket buffers
      });
    }
    assertEquals("the client did not take what was written to it within 300 ms (the write limit), so it was cut off",
        nextReport());
  }

  @Test
  void clientWithoutTlsGetsHintAndIsCutOff() throws Exception {
    var acceptor = open();
    try (var peer = new Peer(acceptor.port())) {
      peer.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");

      assertEquals("HTTP/1.1 400 Bad Request", peer.readLine());
      assertTrue(peer.readToEnd().endsWith("This port speaks TLS: ask it by https, not by http."));
    }
    Patience.eventually(() -> acceptor.connections().isEmpty());
  }

  @Test
  void serverServesNextClientAfterClientsThatSendRandomBytes() throws Exception {
    var acceptor = open();
    long seed = StressRuns.seed();
    System.out.println("random bytes for a TLS server: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int i = 0; i < 200; i++) {
      var bytes = new byte[1 + random.nextInt(400)];
      random.nextBytes(bytes);
      if (random.nextBoolean()) {
        bytes[0] = (byte) (20 + random.nextInt(4));
        if (bytes.length > 4) bytes[3] = 0;
      }
      try (var peer = new Peer(acceptor.port())) {
        peer.send(bytes);
        if (random.nextBoolean()) peer.socket.shutdownOutput();
      }
    }

    try (var socket = connect(acceptor)) {
      send(socket, "hello\n");
      assertEquals("hello", readerOf(socket).readLine());
    }
    Patience.eventually(() -> acceptor.connections().isEmpty());
  }

  @Test
  void tlsRecordsMayArriveByteByByte() throws Exception {
    var acceptor = open();
    try (var slowProxy = net.open(client -> {
      try (var upstream = new Peer(acceptor.port())) {
        var responsePump = Thread.startVirtualThread(() -> pump(upstream.socket, client));
        for (int value; (value = client.inputStream().read()) >= 0;) upstream.socket.getOutputStream().write(value);
        upstream.socket.shutdownOutput();
        responsePump.join();
      }
    }); var socket = connect(slowProxy)) {
      send(socket, "x".repeat(5_000) + "\n");
      assertEquals(5_000, readerOf(socket).readLine().length());
    }
  }

  private static void pump(Socket source, TcpConnection target) {
    try {
      for (int value; (value = source.getInputStream().read()) >= 0;) target.outputStream().write(value);
    } catch (IOException failure) {}
  }

  // ---- certificates of clients

  private static Optional<Principal> peerName(Optional<SSLSession> session) {
    try {
      return Optional.of(session.orElseThrow().getPeerPrincipal());
    } catch (SSLPeerUnverifiedException unverified) {
      return Optional.empty();
    }
  }

  @Test
  void clientMustHaveCertificateIfServerNeedsIt() throws Exception {
    var server = Certificates.of("server", "EC");
    var ada = Certificates.of("ada", "RSA");
    var tls = ServerTls.of(Certificates.context(server, ada));
    var acceptor = net.open(client -> {
      var name = "" + peerName(client.tls());
      reports.add(name);
      client.outputStream().write((name + "\n").getBytes(StandardCharsets.UTF_8));
    }, o -> o.withTls(tls.withParameters(p -> p.setNeedClientAuth(true))));

    try (var socket = Certificates.connect(Certificates.context(ada, server), acceptor.port())) {
      assertEquals("Optional[CN=ada]", readerOf(socket).readLine());
    }
    assertEquals("Optional[CN=ada]", nextReport());
    var stranger = Certificates.of("eve", "EC");
    try (var socket = Certificates.connect(Certificates.context(stranger, server), acceptor.port())) {
      // the client gets an alert, or a broken pipe if the server closed before the client had sent
      // everything
      assertThrows(IOException.class, () -> readerOf(socket).readLine());
    }
    assertEquals(List.of(), List.copyOf(reports));
  }

  @Test
  void plainConnectionHasNoTlsSession() throws Exception {
    var acceptor = net.open(client -> client.outputStream().write((client.tls() + "\n").getBytes()));

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("Optional.empty", peer.readLine());
    }
  }

  @Test
  void handshakeWithDisabledProtocolFails() throws Exception {
    var acceptor = net.open(this::echo,
        o -> o.withTls(ServerTls.of(CONTEXT).withParameters(p -> p.setProtocols(new String[] {"TLSv1.3"}))));

    try (var socket = connect(acceptor, "TLSv1.2")) {
      assertThrows(SSLException.class, socket::startHandshake);
    }
    assertEquals(List.of(), List.copyOf(reports));
  }
}
