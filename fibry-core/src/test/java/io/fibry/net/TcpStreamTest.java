package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.socket.ClientInput;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the streams of a connection. */
class TcpStreamTest {
  private final ServerScope net = new ServerScope();
  private final CompletableFuture<Object> result = new CompletableFuture<>();

  @AfterEach
  void close() {
    net.close();
  }

  @Promise("25.5")
  @Test
  void readLoopThatIgnoresEndOfStreamGetsException() {
    var ends = new AtomicInteger();
    var acceptor = net.open(connection -> {
      var in = connection.inputStream();
      while (in.read() != '\n') ends.incrementAndGet();
    });

    try (var peer = new Peer(acceptor.port()).endOutput()) {
      assertEquals("", peer.readToEnd());
    }

    assertEquals(1_000, ends.get());
    Patience.eventually(() -> net.letters.all.size() == 1);
    var failure = assertInstanceOf(EOFException.class, net.letters.all.getFirst().cause().orElseThrow());
    assertTrue(failure.getMessage().contains("has read past the end 1000 times; stop when read() returns -1"),
        failure.getMessage());
  }

  @Test
  void readThrowsAfterThousandReadsPastEndByAnyMethod() {
    var acceptor = net.open(connection -> {
      var in = connection.inputStream();
      var smallBuffer = new byte[10];
      var largeBuffer = new byte[100_000];
      for (int i = 0; i < 250; i++) {
        assertEquals(-1, in.read());
        assertEquals(-1, in.read(smallBuffer));
        assertEquals(-1, in.read(largeBuffer));
        assertEquals(-1, in.read(smallBuffer, 1, 2));
      }
      result.complete(assertThrows(EOFException.class, () -> in.read(largeBuffer)));
    });

    try (var peer = new Peer(acceptor.port()).endOutput()) {
      assertEquals("", peer.readToEnd());
    }

    assertInstanceOf(EOFException.class, Patience.value(result));
  }

  @Test
  void allReadMethodsReturnSentBytes() {
    long seed = StressRuns.seed();
    var random = new Random(seed);
    var sent = new byte[300_000];
    random.nextBytes(sent);
    var acceptor = net.open(connection -> result.complete(read(connection.inputStream(), new Random(seed))));

    try (var peer = new Peer(acceptor.port())) {
      for (int position = 0; position < sent.length;) {
        int end = Math.min(sent.length, position + 1 + random.nextInt(20_000));
        peer.send(Arrays.copyOfRange(sent, position, end));
        position = end;
      }
      peer.endOutput();
      assertEquals("", peer.readToEnd());
    }

    assertArrayEquals(sent, (byte[]) Patience.value(result), "-Dfibry.seed=" + seed);
  }

  private static byte[] read(InputStream in, Random random) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var largeBuffer = new byte[20_000];
    while (true) {
      switch (random.nextInt(4)) {
        case 0 -> {
          int value = in.read();
          if (value < 0) return bytes.toByteArray();
          bytes.write(value);
        }
        case 1 -> {
          int count = in.read(largeBuffer, 0, 1 + random.nextInt(20_000));
          if (count < 0) return bytes.toByteArray();
          bytes.write(largeBuffer, 0, count);
        }
        case 2 -> bytes.write(in.readNBytes(random.nextInt(5_000)));
        default -> {
          int available = in.available();
          if (available > 0) bytes.write(in.readNBytes(available));
        }
      }
    }
  }

  @Test
  void inputStreamSupportsSkipAndTransferTo() {
    var acceptor = net.open(connection -> {
      var in = connection.inputStream();
      in.skipNBytes(2);
      in.transferTo(connection.outputStream());
    });

    try (var peer = new Peer(acceptor.port()).send("abcde").endOutput()) {
      assertEquals("cde", peer.readToEnd());
    }
  }

  @Test
  void closeOfStreamClosesConnectionAndWritesFail() {
    var acceptor = net.open(connection -> {
      connection.inputStream().close();
      result.complete(assertThrows(SocketException.class, () -> connection.outputStream().write('x')));
      assertThrows(SocketException.class, () -> connection.inputStream().read());
    });

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("", peer.readToEnd());
    }

    Patience.value(result);
    assertEquals(0, acceptor.connections().size());
  }

  @Test
  void bytesOfConcurrentWritesAreNotInterleaved() throws Exception {
    var acceptor = net.open(connection -> {
      var writers = new Thread[3];
      for (int i = 0; i < writers.length; i++) {
        // larger than the socket buffers
        var block = new byte[8_000_000];
        Arrays.fill(block, (byte) ('a' + i));
        writers[i] = Thread.startVirtualThread(() -> {
          try {
            connection.outputStream().write(block);
          } catch (IOException failure) {
            result.completeExceptionally(failure);
          }
        });
      }
      for (var writer : writers) Patience.awaitParked(writer);
      result.complete("all wait");
      for (var writer : writers) writer.join();
    });

    try (var peer = new Peer(acceptor.port())) {
      Patience.value(result);
      var bytes = peer.socket.getInputStream().readAllBytes();

      int changes = 0;
      for (int i = 1; i < bytes.length; i++) if (bytes[i] != bytes[i - 1]) changes++;
      assertEquals(24_000_000, bytes.length);
      assertEquals(2, changes);
    }
  }

  @Test
  void inputBufferGrowsWhenFilledAndShrinksAfterSmallReads() throws Exception {
    var acceptor = net.open(connection -> {
      var in = (ClientInput) connection.inputStream();
      assertEquals(null, in.buffer);
      for (int value = in.read(); value != '.'; value = in.read())
        if (value == '!') connection.outputStream().write(in.buffer.length >> 10);
    });

    try (var peer = new Peer(acceptor.port())) {
      assertEquals(1, peer.send("!").socket.getInputStream().read());
      assertEquals(8, peer.send("x".repeat(5_000) + "!").socket.getInputStream().read());
      for (int i = 0; i < 3; i++) assertEquals(8, peer.send("!").socket.getInputStream().read());
      peer.send("!").socket.getInputStream().read();
      assertEquals(1, peer.send("!").socket.getInputStream().read());
      peer.send(".");
    }
  }
}
