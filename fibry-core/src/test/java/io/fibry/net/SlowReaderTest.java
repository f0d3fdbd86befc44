package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.support.Patience;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients that were in time, where the thread that reads was not. */
class SlowReaderTest {
  private static final Duration LIMIT = Duration.ofSeconds(8);
  private static final ListenerLimits LIMITS =
      new ListenerLimits(InetAddress.getLoopbackAddress(), 1, LIMIT, LIMIT, ListenerLimits.NO_LIMIT, LIMIT, LIMIT,
          LIMIT);

  /** A socket that has bytes, whose reader gets no processor. */
  private static final class SlowSocket extends Socket {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch turn = new CountDownLatch(1);

    @Override
    public InputStream getInputStream() {
      return new ByteArrayInputStream("late".getBytes()) {
        @Override
        public int read(byte[] bytes, int offset, int length) {
          entered.countDown();
          Patience.await(turn);
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
    return new ClientSocket(socket, clock, LIMITS, Optional.empty());
  }

  private void send(String text) throws IOException {
    int before = client.transport.available();
    peer.getOutputStream().write(text.getBytes());
    Patience.eventually(() -> {
      try {
        return client.transport.available() == before + text.length();
      } catch (IOException closed) {
        throw new AssertionError(closed);
      }
    });
  }

  private String read(int most) throws IOException {
    var bytes = new byte[most];
    return new String(bytes, 0, client.read(bytes, 0, most));
  }

  @Promise("25.3")
  @Test
  void bytesThatCameInTimeAreRead() throws IOException {
    client.limitAllReads(LIMIT);
    send("in time");

    clock.advance(Duration.ofSeconds(9));

    assertEquals("in", read(2));
    assertEquals(" time", read(100));
  }

  /** Reads a byte for which it has waited that long. */
  private void waitFor(Duration time) throws IOException {
    var waits = new CompletableFuture<String>();
    var reader = Patience.startFiber(() -> {
      try {
        waits.complete(read(1));
      } catch (IOException failure) {
        waits.completeExceptionally(failure);
      }
    });
    Patience.parked(reader);
    clock.advance(time);
    peer.getOutputStream().write('x');
    assertEquals("x", Patience.value(waits));
  }

  /** A client that has sent as much as fits sends the rest when some of it was read. */
  @Promise("25.3")
  @Test
  void whileBytesWaitTheTimeIsThatOfTheHandler() throws IOException {
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
  void bytesThatCameAfterTheLimitAreNotRead() throws IOException {
    client.limitAllReads(LIMIT);
    waitFor(LIMIT);
    send("in time");
    assertEquals("in", read(2));
    send(", late");

    assertEquals(" time", read(100));
    var cut = assertThrows(SocketTimeoutException.class, () -> read(100));

    assertTrue(cut.getMessage().endsWith("did not finish sending within 8 s, so it was cut off"), cut.getMessage());
    assertTrue(client.isClientError(cut));
  }

  @Test
  void clientThatSentNothingIsCutOff() {
    client.limitAllReads(LIMIT);
    clock.advance(LIMIT);

    var cut = assertThrows(SocketTimeoutException.class, () -> read(100));

    assertTrue(client.isClosed() && client.isClientError(cut));
  }

  @Test
  void nextLimitBeginsAnew() throws IOException {
    client.limitAllReads(LIMIT);
    send("head");
    clock.advance(LIMIT);
    assertEquals("hea", read(3));

    client.limitAllReads(LIMIT);
    send("body");

    assertEquals("dbody", read(100));
  }

  private CompletableFuture<byte[]> reading(ClientSocket slow, CountDownLatch entered) {
    var read = new CompletableFuture<byte[]>();
    Thread.ofVirtual().start(() -> {
      try {
        var bytes = new byte[4];
        slow.read(bytes, 0, 4);
        read.complete(bytes);
      } catch (Throwable failure) {
        read.completeExceptionally(failure);
      }
    });
    Patience.await(entered);
    return read;
  }

  @Test
  void checkPutsOffTheCutOnceWhereBytesHaveCome() throws IOException {
    var socket = new SlowSocket();
    var slow = client(socket);
    var read = reading(slow, socket.entered);
    clock.advance(LIMIT);

    slow.check(clock.nanoTime());
    assertFalse(slow.isClosed());
    socket.turn.countDown();

    assertArrayEquals("late".getBytes(), Patience.value(read));
    clock.advance(LIMIT);
    slow.check(clock.nanoTime());
    assertFalse(slow.isClosed());
  }

  /** Otherwise a client that sends bytes without content could continue for ever. */
  @Test
  void checkCutsOffTheNextTime() throws IOException {
    var socket = new SlowSocket();
    var slow = client(socket);
    reading(slow, socket.entered);
    clock.advance(LIMIT);

    slow.check(clock.nanoTime());
    slow.check(clock.nanoTime());

    assertTrue(slow.isClosed());
    socket.turn.countDown();
  }
}
