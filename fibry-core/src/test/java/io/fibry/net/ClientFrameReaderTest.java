package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
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
  private final ServerScope net = new ServerScope();
  private final BlockingQueue<Object> results = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    net.close();
  }

  /**
   * Opens an acceptor that records the frames of a client, and then the reason why the frames
   * ended.
   */
  private TcpAcceptor open(int maxFrame) {
    return net.open(connection -> {
      try {
        connection.frames().forEach(results::add);
        results.add("end");
      } catch (UncheckedIOException failure) {
        results.add(failure.getCause());
        throw failure;
      } catch (Throwable failure) {
        results.add(failure);
      }
    }, o -> o.withMaxFrame(maxFrame));
  }

  private Object next() {
    return Patience.nextOf(results);
  }

  private static byte[] frame(byte... bytes) {
    return ByteBuffer.allocate(4 + bytes.length).putInt(bytes.length).put(bytes).array();
  }

  @Test
  void frameConsistsOfLengthAndBytes() throws Exception {
    try (var peer = new Peer(open(100_000).port())) {
      peer.send(frame((byte) 1, (byte) 2)).send(frame()).send(frame(new byte[100_000])).endOutput();

      assertArrayEquals(new byte[] {1, 2}, (byte[]) next());
      assertArrayEquals(new byte[0], (byte[]) next());
      assertArrayEquals(new byte[100_000], (byte[]) next());
      assertEquals("end", next());
    }
  }

  @Test
  void lengthAboveLimitOrBelowZeroIsRefused() throws Exception {
    var acceptor = open(100);
    for (int length : new int[] {101, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
      try (var peer = new Peer(acceptor.port())) {
        peer.send(ByteBuffer.allocate(4).putInt(length).array());

        var failure = assertInstanceOf(ProtocolException.class, next());
        assertTrue(
            failure.getMessage().matches("client /127.0.0.1:\\d+ announced a frame of "
                + Integer.toUnsignedString(length) + " bytes, longer than 100; withMaxFrame allows more"),
            failure.getMessage());
        peer.awaitClose();
      }
    }
    assertEquals(List.of(), net.letters.all);
  }

  @Promise("25.9")
  @Test
  void frameLengthAllocatesNoMemoryBeforeBytesArrive() throws Exception {
    var acceptor = open(Integer.MAX_VALUE - 16);
    var peers = new ArrayList<Peer>();
    for (int i = 0; i < 20; i++)
      peers.add(new Peer(acceptor.port()).send(ByteBuffer.allocate(14).putInt(2_000_000_000).array()).endOutput());

    for (int i = 0; i < 20; i++) assertInstanceOf(EOFException.class, next());
    peers.forEach(Peer::close);
  }

  @Test
  void streamEndInsideFrameThrowsEofException() throws Exception {
    var acceptor = open(100);
    assertEndsWithin("a frame's length", acceptor, (byte) 0);
    assertEndsWithin("a frame's length", acceptor, (byte) 0, (byte) 0, (byte) 0);
    assertEndsWithin("a frame of 2 bytes", acceptor, (byte) 0, (byte) 0, (byte) 0, (byte) 2);
    assertEndsWithin("a frame of 2 bytes", acceptor, (byte) 0, (byte) 0, (byte) 0, (byte) 2, (byte) 9);
    assertEndsWithin("a frame of 4 bytes", acceptor, (byte) 0, (byte) 0, (byte) 0, (byte) 4, (byte) 9);
  }

  private void assertEndsWithin(String part, TcpAcceptor acceptor, byte... tornFrame) throws Exception {
    try (var peer = new Peer(acceptor.port()).send(tornFrame).endOutput()) {
      var failure = assertInstanceOf(EOFException.class, next());
      assertTrue(failure.getMessage().endsWith(" ended its stream within " + part), failure.getMessage());
      peer.awaitClose();
    }
  }

  @Test
  void framesSentInRandomPiecesAreReadAndGarbageIsRefused() throws Exception {
    long seed = StressRuns.seed();
    var random = new Random(seed);
    var acceptor = open(20_000);
    for (int round = 0; round < 100; round++) {
      var frames = new ArrayList<byte[]>();
      var stream = ByteBuffer.allocate(200_000);
      for (int i = random.nextInt(6); i > 0; i--) {
        var content = new byte[random.nextInt(1 + random.nextInt(20_001))];
        random.nextBytes(content);
        frames.add(content);
        stream.put(frame(content));
      }
      boolean garbage = random.nextBoolean();
      if (garbage) stream.put(ByteBuffer.allocate(4)
          .putInt(random.nextBoolean() ? 20_001 + random.nextInt(1 << 30) : -1 - random.nextInt(1 << 30)).array());
      try (var peer = new Peer(acceptor.port())) {
        var sent = Arrays.copyOf(stream.array(), stream.position());
        for (int position = 0; position < sent.length;) {
          int end = Math.min(sent.length, position + 1 + random.nextInt(7_000));
          peer.send(Arrays.copyOfRange(sent, position, end));
          position = end;
        }
        peer.endOutput();

        for (var content : frames) assertArrayEquals(content, (byte[]) next(), "-Dfibry.seed=" + seed);
        assertEquals(garbage, next() instanceof ProtocolException, "-Dfibry.seed=" + seed);
      }
    }
  }
}
