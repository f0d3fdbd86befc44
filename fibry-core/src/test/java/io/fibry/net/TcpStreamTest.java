package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.support.Patience;
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

/** The streams of a connection. */
class TcpStreamTest {
  private final ServerScope served = new ServerScope();
  private final CompletableFuture<Object> seen = new CompletableFuture<>();

  @AfterEach
  void close() {
    served.close();
  }

  @Promise("25.5")
  @Test
  void aLoopThatForgetsToLookForTheEndIsTold() {
    var ends = new AtomicInteger();
    var acceptor = served.open(connection -> {
      var in = connection.inputStream();
      while (in.read() != '\n') ends.incrementAndGet();
    });

    try (var peer = new Peer(acceptor.port()).end()) {
      assertEquals("", peer.rest());
    }

    assertEquals(1_000, ends.get());
    Patience.eventually(() -> served.letters.all.size() == 1);
    var told = assertInstanceOf(EOFException.class, served.letters.all.getFirst().cause().orElseThrow());
    assertTrue(told.getMessage().contains("has read past the end 1000 times; stop when read() returns -1"),
        told.getMessage());
  }

  @Test
  void bothWaysOfReadingCount() {
    var acceptor = served.open(connection -> {
      var in = connection.inputStream();
      var small = new byte[10];
      var large = new byte[100_000];
      for (int i = 0; i < 250; i++) {
        assertEquals(-1, in.read());
        assertEquals(-1, in.read(small));
        assertEquals(-1, in.read(large));
        assertEquals(-1, in.read(small, 1, 2));
      }
      seen.complete(assertThrows(EOFException.class, () -> in.read(large)));
    });

    try (var peer = new Peer(acceptor.port()).end()) {
      assertEquals("", peer.rest());
    }

    assertInstanceOf(EOFException.class, Patience.value(seen));
  }

  @Test
  void anyWayOfReadingReadsWhatWasSent() {
    long seed = Long.getLong("fibry.seed", new Random().nextLong());
    var random = new Random(seed);
    var sent = new byte[300_000];
    random.nextBytes(sent);
    var acceptor = served.open(connection -> seen.complete(read(connection.inputStream(), new Random(seed))));

    try (var peer = new Peer(acceptor.port())) {
      for (int at = 0; at < sent.length;) {
        int to = Math.min(sent.length, at + 1 + random.nextInt(20_000));
        peer.send(Arrays.copyOfRange(sent, at, to));
        at = to;
      }
      peer.end();
      assertEquals("", peer.rest());
    }

    assertArrayEquals(sent, (byte[]) Patience.value(seen), "-Dfibry.seed=" + seed);
  }

  private static byte[] read(InputStream in, Random random) throws IOException {
    var all = new ByteArrayOutputStream();
    var large = new byte[20_000];
    while (true) {
      switch (random.nextInt(4)) {
        case 0 -> {
          int one = in.read();
          if (one < 0) return all.toByteArray();
          all.write(one);
        }
        case 1 -> {
          int some = in.read(large, 0, 1 + random.nextInt(20_000));
          if (some < 0) return all.toByteArray();
          all.write(large, 0, some);
        }
        case 2 -> all.write(in.readNBytes(random.nextInt(5_000)));
        default -> {
          int ready = in.available();
          if (ready > 0) all.write(in.readNBytes(ready));
        }
      }
    }
  }

  @Test
  void skipAndTransferWorkAsElsewhere() {
    var acceptor = served.open(connection -> {
      var in = connection.inputStream();
      in.skipNBytes(2);
      in.transferTo(connection.outputStream());
    });

    try (var peer = new Peer(acceptor.port()).send("abcde").end()) {
      assertEquals("cde", peer.rest());
    }
  }

  @Test
  void closingAStreamClosesTheConnectionAndWritingAfterThatThrows() {
    var acceptor = served.open(connection -> {
      connection.inputStream().close();
      seen.complete(assertThrows(SocketException.class, () -> connection.outputStream().write('x')));
      assertThrows(SocketException.class, () -> connection.inputStream().read());
    });

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("", peer.rest());
    }

    Patience.value(seen);
    assertEquals(0, acceptor.connections().size());
  }

  @Test
  void eachWriteIsWhole() throws Exception {
    var acceptor = served.open(connection -> {
      var writers = new Thread[3];
      for (int i = 0; i < writers.length; i++) {
        // more than the system buffers
        var block = new byte[8_000_000];
        Arrays.fill(block, (byte) ('a' + i));
        writers[i] = Thread.startVirtualThread(() -> {
          try {
            connection.outputStream().write(block);
          } catch (IOException failure) {
            seen.completeExceptionally(failure);
          }
        });
      }
      for (var writer : writers) Patience.parked(writer);
      seen.complete("all wait");
      for (var writer : writers) writer.join();
    });

    try (var peer = new Peer(acceptor.port())) {
      Patience.value(seen);
      var all = peer.socket.getInputStream().readAllBytes();

      int changes = 0;
      for (int i = 1; i < all.length; i++) if (all[i] != all[i - 1]) changes++;
      assertEquals(24_000_000, all.length);
      assertEquals(2, changes);
    }
  }

  @Test
  void aBufferIsSmallUntilItIsFilledAndSmallAgainAfterACalm() throws Exception {
    var acceptor = served.open(connection -> {
      var in = (ClientInput) connection.inputStream();
      assertEquals(null, in.buffer);
      for (int one = in.read(); one != '.'; one = in.read())
        if (one == '!') connection.outputStream().write(in.buffer.length >> 10);
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
