package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.support.Certificates;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
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

/** TLS as its clients see it; they are the JDK's. */
class TlsTest {
  private static final SSLContext CONTEXT = Certificates.context();

  private final ServerScope net = new ServerScope();
  private final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    net.close();
  }

  private TcpAcceptor open(UnaryOperator<TcpOptions> options) {
    return net.open(this::echo, o -> options.apply(o.withTls(CONTEXT)));
  }

  private TcpAcceptor open() {
    return open(same -> same);
  }

  /** Line by line, and says how it ended. */
  private void echo(TcpConnection client) {
    try {
      for (var line : client.lines()) client.lineActor().sendMessage(line);
      heard.add("the end");
    } catch (RuntimeException broken) {
      heard.add(broken.getCause().getMessage().replaceAll("client \\S+", "the client"));
      throw broken;
    }
  }

  private String heard() {
    return Patience.next(heard);
  }

  private static SSLSocket connect(TcpAcceptor acceptor, String... protocols) throws IOException {
    return Certificates.connect(CONTEXT, acceptor.port(), protocols);
  }

  private static BufferedReader in(SSLSocket socket) throws IOException {
    return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  private static void send(SSLSocket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void aConversation(String protocol) throws Exception {
    try (var socket = connect(open(), protocol)) {
      send(socket, "hello\nwor");
      send(socket, "ld\n");

      var in = in(socket);
      assertEquals("hello", in.readLine());
      assertEquals("world", in.readLine());
      assertEquals(protocol, socket.getSession().getProtocol());
    }
    assertEquals("the end", heard());
  }

  @Test
  void theServerMaySpeakFirst() throws Exception {
    var acceptor = net.open(client -> client.outputStream().write("welcome\n".getBytes()), o -> o.withTls(CONTEXT));

    try (var socket = connect(acceptor)) {
      assertEquals("welcome", in(socket).readLine());
      assertEquals(-1, socket.getInputStream().read());
    }
  }

  /** It has said all, and waits for the answer. */
  @Test
  void aClientMayEndItsSideFirst() throws Exception {
    var acceptor = net.open(client -> {
      var all = client.inputStream().readAllBytes();
      client.outputStream().write((all.length + "\n").getBytes());
    }, o -> o.withTls(CONTEXT));

    try (var socket = connect(acceptor, "TLSv1.3")) {
      socket.getOutputStream().write(new byte[100_000]);
      socket.shutdownOutput();

      assertEquals("100000", in(socket).readLine());
    }
  }

  @Test
  void muchGoesBothWaysAtOnce() throws Exception {
    var acceptor = net.open(client -> {
      var buffer = new byte[70_000];
      for (int some; (some = client.inputStream().read(buffer)) >= 0;)
        client.outputStream().write(buffer, 0, some);
    }, o -> o.withTls(CONTEXT));
    long seed = System.nanoTime();
    System.out.println("TlsTest: seed " + seed);
    var sent = new byte[5_000_000];
    new Random(seed).nextBytes(sent);

    try (var socket = connect(acceptor)) {
      var sending = CompletableFuture.runAsync(() -> {
        var random = new Random(seed);
        try {
          for (int at = 0, some; at < sent.length; at += some) {
            some = Math.min(sent.length - at, 1 + random.nextInt(40_000));
            socket.getOutputStream().write(sent, at, some);
          }
        } catch (IOException gone) {
          throw new AssertionError(gone);
        }
      });

      assertTrue(Arrays.equals(sent, socket.getInputStream().readNBytes(sent.length)));
      sending.get();
    }
  }

  /** Some cipher suites want new keys after much; any client may ask for them. */
  @Test
  void keysMayBeRenewed() throws Exception {
    try (var socket = connect(open(), "TLSv1.3")) {
      var in = in(socket);
      for (int i = 0; i < 5; i++) {
        send(socket, "line " + i + "\n");
        socket.startHandshake(); // in TLS 1.3: asks the other side for new keys, too
        assertEquals("line " + i, in.readLine());
      }
    }
  }

  @Promise("25.12")
  @Test
  void nobodyNegotiatesAgain() throws Exception {
    try (var socket = connect(open(), "TLSv1.2")) {
      send(socket, "hello\n");
      assertEquals("hello", in(socket).readLine());

      assertThrows(IOException.class, () -> {
        socket.startHandshake();
        send(socket, "again\n");
        in(socket).readLine();
      });
    }
    assertEquals("the client was cut off by TLS: it wants to negotiate again, which is refused", heard());
  }

  // ---- ends

  @Promise("25.12")
  @Test
  void aStreamThatEndsWithoutAWordIsTorn() throws Exception {
    var acceptor = open();
    try (var plain = new Peer(acceptor.port())) {
      var socket =
          (SSLSocket) CONTEXT.getSocketFactory().createSocket(plain.socket, "localhost", acceptor.port(), false);
      send(socket, "hello\nworl");
      assertEquals("hello", in(socket).readLine());
      plain.socket.shutdownOutput();

      assertEquals("the client was cut off by TLS: it ended its stream without saying so in TLS (no close_notify), so "
          + "what it sent may be torn", heard());
    }
  }

  @Test
  void aCutDoesNotLookLikeAnEnd() throws Exception {
    var acceptor = open();
    try (var socket = connect(acceptor)) {
      send(socket, "hello\n");
      var in = in(socket);
      assertEquals("hello", in.readLine());
      acceptor.kill();

      assertThrows(IOException.class, in::readLine);
    }
  }

  @Test
  void anAcceptorThatIsAskedToEndTellsItsClients() throws Exception {
    var acceptor = open(o -> o.withDrainLimit(Patience.LONG));
    try (var socket = connect(acceptor)) {
      send(socket, "hello\n");
      var in = in(socket);
      assertEquals("hello", in.readLine());
      acceptor.askExit();

      assertEquals(null, in.readLine());
    }
    assertEquals("the end", heard());
    acceptor.waitForExit();
  }

  @Promise("25.12")
  @Test
  void anEndDoesNotWaitForHalfAHandshake() throws Exception {
    var acceptor = open(o -> o.withIdleLimit(Duration.ofMinutes(5)).withDrainLimit(Duration.ofMinutes(5)));
    try (var silent = new Peer(acceptor.port()); var half = new Peer(acceptor.port())) {
      half.send(new byte[] {22, 3, 1, 2, 0, 1});
      Patience.eventually(() -> acceptor.connections().size() == 2);

      acceptor.sendPoisonPill();

      Patience.ended(acceptor::waitForExit);
      assertEquals("", silent.rest() + half.rest());
    }
  }

  // ---- who speaks no TLS, or too slowly

  /** The server must answer each wish with new keys of its own. */
  @Soak(counterpart = "TcpLimitsTest.clientThatNeverReadsIsCutOffAtWriteLimit")
  @Test
  void aClientThatWantsNewKeysAndDoesNotReadIsCutOffAtTheWriteLimit() throws Exception {
    var acceptor = open(o -> o.withIdleLimit(ChronoUnit.FOREVER.getDuration()).withWriteLimit(Duration.ofMillis(300)));
    try (var plain = new Socket()) {
      plain.setReceiveBufferSize(4_096);
      plain.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), acceptor.port()));
      var socket = (SSLSocket) CONTEXT.getSocketFactory().createSocket(plain, "localhost", acceptor.port(), false);
      assertThrows(IOException.class, () -> {
        while (true) socket.startHandshake(); // until the system takes no answer any more
      });
    }
    assertEquals("the client did not take what was written to it within 300 ms (the write limit), so it was cut off",
        heard());
  }

  @Test
  void aClientWithoutTlsIsCutOff() throws Exception {
    var acceptor = open();
    try (var peer = new Peer(acceptor.port())) {
      peer.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");

      assertEquals("HTTP/1.1 400 Bad Request", peer.line());
      assertTrue(peer.rest().endsWith("This port speaks TLS: ask it by https, not by http."));
    }
    Patience.eventually(() -> acceptor.connections().isEmpty());
  }

  @Test
  void bytesOfAnyKindDoNotHarmTheServer() throws Exception {
    var acceptor = open();
    long seed = System.nanoTime();
    System.out.println("TlsTest: seed " + seed);
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
      assertEquals("hello", in(socket).readLine());
    }
    Patience.eventually(() -> acceptor.connections().isEmpty());
  }

  @Test
  void recordsMayComeByteByByte() throws Exception {
    var acceptor = open();
    try (var slow = net.open(client -> {
      try (var there = new Peer(acceptor.port())) {
        var back = Thread.startVirtualThread(() -> pump(there.socket, client));
        for (int one; (one = client.inputStream().read()) >= 0;) there.socket.getOutputStream().write(one);
        there.socket.shutdownOutput();
        back.join();
      }
    }); var socket = connect(slow)) {
      send(socket, "x".repeat(5_000) + "\n");
      assertEquals(5_000, in(socket).readLine().length());
    }
  }

  private static void pump(Socket from, TcpConnection to) {
    try {
      for (int one; (one = from.getInputStream().read()) >= 0;) to.outputStream().write(one);
    } catch (IOException gone) {}
  }

  // ---- certificates of clients

  private static Optional<Principal> who(Optional<SSLSession> session) {
    try {
      return Optional.of(session.orElseThrow().getPeerPrincipal());
    } catch (SSLPeerUnverifiedException nobody) {
      return Optional.empty();
    }
  }

  @Test
  void aClientCanBeAskedForItsCertificate() throws Exception {
    var server = Certificates.of("server", "EC");
    var ada = Certificates.of("ada", "RSA");
    var tls = Tls.of(Certificates.context(server, ada));
    var acceptor = net.open(client -> {
      var name = "" + who(client.tls());
      heard.add(name);
      client.outputStream().write((name + "\n").getBytes(StandardCharsets.UTF_8));
    }, o -> o.withTls(tls.withParameters(p -> p.setNeedClientAuth(true))));

    try (var socket = Certificates.connect(Certificates.context(ada, server), acceptor.port())) {
      assertEquals("Optional[CN=ada]", in(socket).readLine());
    }
    assertEquals("Optional[CN=ada]", heard());
    var stranger = Certificates.of("eve", "EC");
    try (var socket = Certificates.connect(Certificates.context(stranger, server), acceptor.port())) {
      // an alert; or the pipe breaks, where the server has closed before the client had said all
      assertThrows(IOException.class, () -> in(socket).readLine());
    }
    assertEquals(List.of(), List.copyOf(heard));
  }

  @Test
  void plainConnectionHasNoTlsSession() throws Exception {
    var acceptor = net.open(client -> client.outputStream().write((client.tls() + "\n").getBytes()));

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("Optional.empty", peer.line());
    }
  }

  @Test
  void protocolsCanBeLeftOut() throws Exception {
    var acceptor = net.open(this::echo,
        o -> o.withTls(Tls.of(CONTEXT).withParameters(p -> p.setProtocols(new String[] {"TLSv1.3"}))));

    try (var socket = connect(acceptor, "TLSv1.2")) {
      assertThrows(SSLException.class, socket::startHandshake);
    }
    assertEquals(List.of(), List.copyOf(heard));
  }
}
