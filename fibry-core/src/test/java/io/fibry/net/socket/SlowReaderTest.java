package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.ServerScope;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.net.ServerSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a client that sent in time is not cut off if the server reads late. */
class SlowReaderTest {
  private static final Duration LIMIT = Duration.ofSeconds(8);
  private static final ListenerLimits LIMITS =
      new ListenerLimits(InetAddress.getLoopbackAddress(), ServerSocketFactory.getDefault(), Optional.empty(), 1, LIMIT,
          LIMIT,
          ListenerLimits.NO_LIMIT, LIMIT, LIMIT,
          LIMIT);

  /** A socket that has received bytes, but whose reader is suspended inside of read. */
  private static final class SlowSocket extends Socket {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch mayRead = new CountDownLatch(1);

    @Override
    public InputStream getInputStream() {
      return new ByteArrayInputStream("late".getBytes()) {
        @Override
        public int read(byte[] bytes, int offset, int length) {
          entered.countDown();
          Patience.await(mayRead);
          return super.read(bytes, offset, length);
        }
      };
    }

    @Override
    public OutputStream getOutputStream() {
      return OutputStream.nullOutputStream();
    }
  }

  private final ManualScheduler clock = new ManualScheduler();
  private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final Socket peer = new Socket(server.getInetAddress(), server.getLocalPort());
  private final ClientSocket client = client(server.accept());

  SlowReaderTest() throws IOException {}

  @AfterEach
  void close() throws IOException {
    client.close();
    peer.close();
    server.close();
  }

  private ClientSocket client(Socket socket) throws IOException {
    return new ClientSocket(new PlainTransport(socket), clock, LIMITS, Optional.empty());
  }

  private void send(String text) throws IOException {
    int availableBefore = client.notices.available();
    peer.getOutputStream().write(text.getBytes());
    Patience.eventually(() -> {
      try {
        return client.notices.available() == availableBefore + text.length();
      } catch (IOException failure) {
        throw new AssertionError(failure);
      }
    });
  }

  private String read(int maxLength) throws IOException {
    var bytes = new byte[maxLength];
    return new String(bytes, 0, client.read(bytes, 0, maxLength));
  }

  @Promise("25.3")
  @Test
  void bytesSentWithinLimitCanBeReadAfterLimit() throws IOException {
    client.limitAllReads(LIMIT);
    send("in time");

    clock.advance(Duration.ofSeconds(9));

    assertEquals("in", read(2));
    assertEquals(" time", read(100));
  }

  /** Reads a byte that the client sends when this time has passed. */
  private void readByteAfter(Duration time) throws IOException {
    var result = new CompletableFuture<String>();
    var reader = Patience.startFiber(() -> {
      try {
        result.complete(read(1));
      } catch (IOException failure) {
        result.completeExceptionally(failure);
      }
    });
    Patience.eventually(() -> ServerScope.isWaitingForClient(reader)); // so the limit runs
    clock.advance(time);
    peer.getOutputStream().write('x');
    assertEquals("x", Patience.value(result));
  }

  /**
   * The limit must not run, because a client that has filled the buffers can send more only after
   * the server has read.
   */
  @Promise("25.3")
  @Test
  void readLimitDoesNotRunWhileUnreadBytesAreAvailable() throws IOException {
    client.limitAllReads(LIMIT);
    send("in time");
    clock.advance(Duration.ofSeconds(9));
    assertEquals("in", read(2));
    send(", too");
    clock.advance(Duration.ofSeconds(9));
    assertEquals(" time, too", read(100));

    clock.advance(LIMIT);
    assertThrows(SocketTimeoutException.class, () -> read(100));
  }

  @Test
  void bytesSentAfterLimitAreNotRead() throws IOException {
    client.limitAllReads(LIMIT);
    readByteAfter(LIMIT);
    send("in time");
    assertEquals("in", read(2));
    send(", late");

    assertEquals(" time", read(100));
    var failure = assertThrows(SocketTimeoutException.class, () -> read(100));

    assertTrue(failure.getMessage().endsWith("did not finish sending within 8 s, so it was cut off"),
        failure.getMessage());
    assertTrue(client.isClientError(failure));
  }

  @Test
  void clientThatSentNothingIsCutOff() {
    client.limitAllReads(LIMIT);
    clock.advance(LIMIT);

    var failure = assertThrows(SocketTimeoutException.class, () -> read(100));

    assertTrue(client.isClosed() && client.isClientError(failure));
  }

  @Test
  void newReadLimitDoesNotCountTimeOfPreviousLimit() throws IOException {
    client.limitAllReads(LIMIT);
    send("head");
    clock.advance(LIMIT);
    assertEquals("hea", read(3));

    client.limitAllReads(LIMIT);
    send("body");

    assertEquals("dbody", read(100));
  }

  private CompletableFuture<byte[]> startReading(ClientSocket slowClient, CountDownLatch entered) {
    var result = Patience.callOnFiber(() -> {
      var bytes = new byte[4];
      slowClient.read(bytes, 0, 4);
      return bytes;
    });
    Patience.await(entered);
    return result;
  }

  @Test
  void limitCheckSparesClientWhoseBytesHaveArrived() throws IOException {
    var socket = new SlowSocket();
    var slowClient = client(socket);
    var result = startReading(slowClient, socket.entered);
    clock.advance(LIMIT);

    slowClient.checkLimits(clock.nanoTime());
    assertFalse(slowClient.isClosed());
    socket.mayRead.countDown();

    assertArrayEquals("late".getBytes(), Patience.value(result));
    clock.advance(LIMIT);
    slowClient.checkLimits(clock.nanoTime());
    assertFalse(slowClient.isClosed());
  }

  /**
   * If each check spared the client, a client that sends bytes without content could continue
   * forever.
   */
  @Test
  void clientWithoutNewBytesIsCutOffBySecondLimitCheck() throws IOException {
    var socket = new SlowSocket();
    var slowClient = client(socket);
    startReading(slowClient, socket.entered);
    clock.advance(LIMIT);

    slowClient.checkLimits(clock.nanoTime());
    slowClient.checkLimits(clock.nanoTime());

    assertTrue(slowClient.isClosed());
    socket.mayRead.countDown();
  }
}
