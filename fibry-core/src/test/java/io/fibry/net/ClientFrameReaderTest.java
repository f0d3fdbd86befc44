package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.support.Patience;
import java.io.EOFException;
import java.io.UncheckedIOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClientFrameReaderTest {
  private final ServerScope served = new ServerScope();
  private final BlockingQueue<Object> seen = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    served.close();
  }

  /** The frames, then why they ended. */
  private TcpAcceptor open(int longest) {
    return served.open(connection -> {
      try {
        connection.frames().forEach(seen::add);
        seen.add("end");
      } catch (UncheckedIOException failure) {
        seen.add(failure.getCause());
        throw failure;
      } catch (Throwable wrong) {
        seen.add(wrong);
      }
    }, o -> o.withMaxFrame(longest));
  }

  private Object next() {
    return Patience.next(seen);
  }

  private static byte[] frame(byte... bytes) {
    return ByteBuffer.allocate(4 + bytes.length).putInt(bytes.length).put(bytes).array();
  }

  @Test
  void aLengthAndSoManyBytesAreAFrame() throws Exception {
    try (var peer = new Peer(open(100_000).port())) {
      peer.send(frame((byte) 1, (byte) 2)).send(frame()).send(frame(new byte[100_000])).end();

      assertArrayEquals(new byte[] {1, 2}, (byte[]) next());
      assertArrayEquals(new byte[0], (byte[]) next());
      assertArrayEquals(new byte[100_000], (byte[]) next());
      assertEquals("end", next());
    }
  }

  @Test
  void aLengthOverTheLimitOrBelowZeroIsRefused() throws Exception {
    var acceptor = open(100);
    for (int length : new int[] {101, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
      try (var peer = new Peer(acceptor.port())) {
        peer.send(ByteBuffer.allocate(4).putInt(length).array());

        var refused = assertInstanceOf(ProtocolException.class, next());
        assertTrue(
            refused.getMessage().matches("client /127.0.0.1:\\d+ announced a frame of "
                + Integer.toUnsignedString(length) + " bytes, longer than 100; withMaxFrame allows more"),
            refused.getMessage());
        peer.closed();
      }
    }
    assertEquals(List.of(), served.letters.all);
  }

  @Promise("25.9")
  @Test
  void aLengthAloneTakesNoMemory() throws Exception {
    var acceptor = open(Integer.MAX_VALUE - 16);
    var peers = new ArrayList<Peer>();
    for (int i = 0; i < 20; i++)
      peers.add(new Peer(acceptor.port()).send(ByteBuffer.allocate(14).putInt(2_000_000_000).array()).end());

    for (int i = 0; i < 20; i++) assertInstanceOf(EOFException.class, next());
    peers.forEach(Peer::close);
  }

  @Test
  void anEndWithinAFrameIsNoEnd() throws Exception {
    var acceptor = open(100);
    for (var begun : List.of(new byte[] {0}, new byte[] {0, 0, 0}, new byte[] {0, 0, 0, 2},
        new byte[] {0, 0, 0, 2, 9})) {
      try (var peer = new Peer(acceptor.port()).send(begun).end()) {
        var told = assertInstanceOf(EOFException.class, next());
        assertTrue(told.getMessage().contains("ended its stream within a frame"), told.getMessage());
        peer.closed();
      }
    }
  }

  @Test
  void anyBytesInAnyPiecesAreFramesOrRefused() throws Exception {
    long seed = Long.getLong("fibry.seed", new Random().nextLong());
    var random = new Random(seed);
    var acceptor = open(20_000);
    for (int round = 0; round < 100; round++) {
      var frames = new ArrayList<byte[]>();
      var all = ByteBuffer.allocate(200_000);
      for (int i = random.nextInt(6); i > 0; i--) {
        var one = new byte[random.nextInt(1 + random.nextInt(20_001))];
        random.nextBytes(one);
        frames.add(one);
        all.put(frame(one));
      }
      boolean garbage = random.nextBoolean();
      if (garbage) all.put(ByteBuffer.allocate(4)
          .putInt(random.nextBoolean() ? 20_001 + random.nextInt(1 << 30) : -1 - random.nextInt(1 << 30)).array());
      try (var peer = new Peer(acceptor.port())) {
        var sent = Arrays.copyOf(all.array(), all.position());
        for (int at = 0; at < sent.length;) {
          int to = Math.min(sent.length, at + 1 + random.nextInt(7_000));
          peer.send(Arrays.copyOfRange(sent, at, to));
          at = to;
        }
        peer.end();

        for (var one : frames) assertArrayEquals(one, (byte[]) next(), "-Dfibry.seed=" + seed);
        assertEquals(garbage, next() instanceof ProtocolException, "-Dfibry.seed=" + seed);
      }
    }
  }
}
