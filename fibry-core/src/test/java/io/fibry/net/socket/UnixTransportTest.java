package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Certificates;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ServerSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the threads that read, write, check and close one connection of a Unix domain socket. */
class UnixTransportTest {
  private static final Duration LIMIT = Duration.ofSeconds(8);
  private static final ListenerLimits LIMITS = new ListenerLimits(InetAddress.getLoopbackAddress(),
      ServerSocketFactory.getDefault(), Optional.empty(), 1, LIMIT, LIMIT, ListenerLimits.NO_LIMIT, LIMIT, LIMIT,
      LIMIT);
  private static final int MORE_THAN_BUFFERS = 3_000_000; // bytes
  private static final int STRESS_BYTES = Soak.ON ? 20_000_000 : 400_000;

  @TempDir
  Path folder;
  private Path file;
  private UnixEndpoint endpoint;
  private SocketChannel peer;
  private Transport transport;
  private final ManualScheduler clock = new ManualScheduler();

  @BeforeEach
  void connect() throws IOException {
    file = folder.resolve("server.sock");
    assumeTrue(file.toString().length() < 100, "the temporary folder has a long name");
    endpoint = UnixEndpoint.bind(file);
    peer = SocketChannel.open(UnixDomainSocketAddress.of(file));
    transport = endpoint.accept();
  }

  @AfterEach
  void close() throws IOException {
    if (endpoint == null) return;
    transport.close();
    peer.close();
    endpoint.close();
    Patience.eventually(endpoint::hasPollerEnded);
  }

  private void send(String text) throws IOException {
    peer.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
  }

  private String read(int maxLength) throws IOException {
    var bytes = new byte[maxLength];
    int count = transport.read(bytes, 0, maxLength);
    return count < 0 ? "end" : new String(bytes, 0, count, StandardCharsets.US_ASCII);
  }

  private Thread startReading(CompletableFuture<String> text) {
    var reader = Patience.startFiber(() -> read(100), text);
    Patience.awaitParked(reader);
    return reader;
  }

  private Thread startWriting(CompletableFuture<Object> written) {
    var writer = Patience.startFiber(() -> {
      transport.write(new byte[MORE_THAN_BUFFERS], 0, MORE_THAN_BUFFERS);
      return null;
    }, written);
    Patience.awaitParked(writer);
    return writer;
  }

  // ---- waits

  @Test
  void closeEndsReaderAndWriter() {
    var text = new CompletableFuture<String>();
    var written = new CompletableFuture<Object>();
    startReading(text);
    startWriting(written);

    transport.close();

    assertEquals("Socket closed", Patience.failure(text).getMessage());
    assertEquals("Socket closed", Patience.failure(written).getMessage());
  }

  @Test
  void endOfInputEndsReader() {
    var text = new CompletableFuture<String>();
    startReading(text);

    transport.endInput();

    assertEquals("end", Patience.value(text));
  }

  @Test
  void pollerEndsAfterLastConnection() throws IOException {
    endpoint.close();
    assertFalse(Files.exists(file));
    var text = new CompletableFuture<String>();
    startReading(text);
    assertFalse(endpoint.hasPollerEnded());

    send("late");
    assertEquals("late", Patience.value(text));
    transport.close();

    Patience.eventually(endpoint::hasPollerEnded);
  }

  // ---- interrupts

  @Test
  void interruptOfWaitingFiberClosesConnection() {
    var text = new CompletableFuture<String>();
    startReading(text).interrupt();

    var failure = Patience.failure(text);

    assertEquals(SocketException.class, failure.getClass());
    assertEquals("Closed by interrupt", failure.getMessage());
    assertThrows(SocketException.class, () -> read(1));
  }

  @Test
  void interruptedPlatformThreadContinuesToWait() throws Exception {
    var text = new CompletableFuture<String>();
    var reader = Thread.ofPlatform().daemon().start(() -> {
      try {
        text.complete(read(100) + " " + Thread.currentThread().isInterrupted());
      } catch (IOException failure) {
        text.completeExceptionally(failure);
      }
    });
    Patience.awaitParked(reader);
    reader.interrupt();
    Patience.eventually(() -> !reader.isInterrupted()); // the wait has taken the interrupt
    Patience.awaitParked(reader);

    send("hello");

    assertEquals("hello true", Patience.value(text));
  }

  // ---- bytes that have arrived

  /**
   * If a check takes the bytes before the poller sees them, the check must wake the reader. Here
   * the poller does not run.
   */
  @Promise("25.3")
  @Test
  void readerGetsBytesThatCheckFound() throws IOException {
    var path = folder.resolve("other.sock");
    try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX); var selector = Selector.open()) {
      server.bind(UnixDomainSocketAddress.of(path));
      try (var other = SocketChannel.open(UnixDomainSocketAddress.of(path));
          var channel = server.accept()) {
        var checked = new UnixTransport(channel, new UnixPoller(selector));
        var bytes = new byte[9];
        var count = new CompletableFuture<Integer>();
        Patience.awaitParked(Patience.startFiber(() -> checked.read(bytes, 0, 9), count));
        assertFalse(checked.hasUnreadInSocket());
        other.write(ByteBuffer.wrap("hello".getBytes(StandardCharsets.US_ASCII)));

        assertTrue(checked.hasUnreadInSocket());

        assertEquals(5, Patience.value(count));
        assertFalse(checked.hasUnreadInSocket());
      }
    }
  }

  private ClientSocket client() {
    return new ClientSocket(transport, clock, LIMITS, Optional.empty());
  }

  private static int read(ClientSocket client, byte[] bytes) throws IOException {
    return client.read(bytes, 0, bytes.length);
  }

  @Promise("25.3")
  @Test
  void bytesSentWithinLimitCanBeReadAfterLimit() throws IOException {
    var client = client();
    client.limitAllReads(LIMIT);
    var bytes = new byte[1];
    send("xx");
    assertEquals(1, read(client, bytes));
    var text = "x".repeat(100_000);
    send(text);
    var reader = Patience.callOnFiber(() -> {
      clock.advance(LIMIT);
      int count = 0;
      while (count < text.length() + 1) count += read(client, new byte[7_000]);
      return count;
    });

    assertEquals(text.length() + 1, Patience.value(reader));
    clock.advance(LIMIT);
    assertThrows(SocketTimeoutException.class, () -> read(client, bytes));
  }

  /** A read of which the limit was exceeded may still take the bytes that arrived before. */
  @Promise("25.3")
  @Test
  void bytesInTimeAreReadAfterLimitWasUsedUp() throws IOException {
    var client = client();
    client.limitAllReads(LIMIT);
    var first = new CompletableFuture<Integer>();
    var reader = Patience.startFiber(() -> read(client, new byte[1]), first);
    Patience.awaitParked(reader);
    clock.advance(LIMIT);
    send("x");
    assertEquals(1, Patience.value(first));
    int size = 100_000;
    send("y".repeat(size));

    int count = 0;
    while (count < size) count += read(client, new byte[7_000]);
    send("late");

    assertEquals(size, count);
    assertThrows(SocketTimeoutException.class, () -> read(client, new byte[1]));
  }

  @Promise("25.3")
  @Test
  void limitCheckSparesClientWhoseBytesHaveArrived() throws IOException {
    var client = client();
    clock.advance(Duration.ofSeconds(1));
    var read = new CompletableFuture<Integer>();
    Patience.awaitParked(Patience.startFiber(() -> read(client, new byte[9]), read));
    clock.advance(LIMIT);
    send("in time");

    client.checkLimits(clock.nanoTime());

    assertEquals(7, Patience.value(read));
    assertFalse(client.isClosed());
  }

  // ---- TLS

  @Promise("25.15")
  @Test
  void tlsPassesThroughFile() throws Exception {
    try (var other = SocketChannel.open(UnixDomainSocketAddress.of(file))) {
      var selectorThread = UnixPoller.start("client");
      var context = Certificates.context();
      var server = new TlsTransport(endpoint.accept(), () -> {
        var engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        return engine;
      }, Transport.ControlWrite::write);
      var client = new TlsTransport(new UnixTransport(other, selectorThread), () -> {
        var engine = context.createSSLEngine("localhost", 0);
        engine.setUseClientMode(true);
        return engine;
      }, Transport.ControlWrite::write);
      var echoed = Patience.callOnFiber(() -> {
        server.handshake();
        var bytes = new byte[5];
        int count = server.read(bytes, 0, 5);
        server.write(bytes, 0, count);
        return count;
      });

      client.handshake();
      client.write("hello".getBytes(StandardCharsets.US_ASCII), 0, 5);
      var bytes = new byte[5];
      assertEquals(5, client.read(bytes, 0, 5));

      assertEquals("hello", new String(bytes, StandardCharsets.US_ASCII));
      assertEquals(5, Patience.value(echoed));
      client.close();
      server.close();
      selectorThread.endAfterConnections();
    }
  }

  // ---- stress

  /** One thread reads, one writes, one checks; the peer sends back what it gets. */
  @Test
  void noWakeUpIsLost() throws Exception {
    long seed = StressRuns.seed();
    System.out.println("unix transport: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    long writerSeed = random.nextLong();
    var isOver = new AtomicBoolean();
    Patience.callOnFiber(() -> {
      var buffer = ByteBuffer.allocate(5_000);
      while (peer.read(buffer.clear()) >= 0) for (buffer.flip(); buffer.hasRemaining();) peer.write(buffer);
      return null;
    });
    var writer = Patience.callOnFiber(() -> {
      var sizes = new Random(writerSeed);
      for (int sent = 0; sent < STRESS_BYTES;) {
        int size = Math.min(STRESS_BYTES - sent, 1 + sizes.nextInt(sizes.nextBoolean() ? 3 : 9_000));
        var bytes = new byte[size];
        for (int i = 0; i < size; i++) bytes[i] = (byte) (sent + i);
        transport.write(bytes, 0, size);
        sent += size;
      }
      return null;
    });
    var checker = Patience.callOnThread(() -> {
      while (!isOver.get()) {
        transport.hasUnreadInSocket();
        Thread.yield();
      }
      return null;
    });
    var reader = Patience.callOnFiber(() -> readAll(random));

    try {
      Patience.value(writer);
      assertEquals(STRESS_BYTES, Patience.value(reader));
    } finally {
      isOver.set(true);
    }
    Patience.value(checker);
  }

  private int readAll(Random random) {
    try {
      int read = 0;
      while (read < STRESS_BYTES) {
        var bytes = new byte[1 + random.nextInt(9_000)];
        if (random.nextInt(4) == 0) transport.available();
        int count = transport.read(bytes, 0, bytes.length);
        for (int i = 0; i < count; i++) assertEquals((byte) (read + i), bytes[i]);
        read += count;
      }
      return read;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
