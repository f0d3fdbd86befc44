package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Handler;
import io.fibry.support.Patience;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClientLineReaderTest {
  private final ServerScope served = new ServerScope();

  @AfterEach
  void close() {
    served.close();
  }

  /** The lines a handler reads of these pieces. */
  private Object given(Handler.Returning<TcpConnection, Object> handler, UnaryOperator<TcpOptions> options,
      byte[]... pieces) {
    var seen = new CompletableFuture<Object>();
    var acceptor = served.open(connection -> {
      try {
        seen.complete(handler.handle(connection));
      } catch (Throwable failure) {
        seen.complete(failure);
        throw failure;
      }
    }, options);
    try (var peer = new Peer(acceptor.port())) {
      try {
        for (var piece : pieces) peer.send(piece);
        peer.end();
      } catch (UncheckedIOException closedAlready) {
        // the lines are known
      }
      return Patience.value(seen);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> all(TcpConnection connection) {
    var all = new ArrayList<String>();
    connection.lines().forEach(all::add);
    return all;
  }

  private Object lines(String... pieces) {
    return given(ClientLineReaderTest::all, same -> same,
        Arrays.stream(pieces).map(ClientLineReaderTest::bytes).toArray(byte[][]::new));
  }

  @Test
  void aLineEndsByAnyLineEndOrTheEndOfTheStream() {
    assertEquals(List.of("one", "two", "", "three", "four", "", "last"), lines("one\ntwo\r\n\r\nthree\rfour\r\rlast"));
    assertEquals(List.of(), lines());
    assertEquals(List.of(""), lines("\r", "\n"));
  }

  @Test
  void linesAreUtf8AndMalformedBytesAreReplaced() {
    assertEquals(List.of("äöü€😀"), lines("äöü€😀"));
    assertEquals(List.of("a\ufffdb", "c"),
        given(ClientLineReaderTest::all, same -> same, new byte[] {'a', (byte) 0xff}, new byte[] {'b', '\n', 'c'}));
  }

  @Test
  void aLineThatIsTooLongIsRefusedWithItsLimit() {
    var refused = assertInstanceOf(UncheckedIOException.class,
        given(ClientLineReaderTest::all, o -> o.withMaxFrame(10_000), bytes("x".repeat(10_001))));

    assertInstanceOf(ProtocolException.class, refused.getCause());
    assertTrue(
        refused.getMessage()
            .matches("client /127.0.0.1:\\d+ sent a line longer than 10000 bytes; withMaxFrame allows more"),
        refused.getMessage());
    assertEquals(0, served.letters.all.size());
  }

  @Test
  void aLineOfTheGreatestLengthIsGiven() {
    var line = "x".repeat(10_000);

    assertEquals(List.of(line, line),
        given(ClientLineReaderTest::all, o -> o.withMaxFrame(10_000), bytes(line + "\r\n" + line)));
  }

  @Test
  void aSecondIterationGoesOnWhereTheFirstStopped() {
    var seen = given(connection -> {
      var first = connection.lines().iterator().next();
      var rest = all(connection);
      assertFalse(connection.lines().iterator().hasNext());
      assertThrows(NoSuchElementException.class, () -> connection.lines().iterator().next());
      return first + rest;
    }, same -> same, bytes("a\r\nb\nc\n"));

    assertEquals("a[b, c]", seen);
  }

  @Test
  void linesAndBytesMayBeMixed() {
    var seen =
        given(connection -> connection.lines().iterator().next() + new String(connection.inputStream().readNBytes(3))
            + all(connection), same -> same, bytes("head\nabc\ntail"));

    assertEquals("headabc[, tail]", seen);
  }

  @Test
  void aResetIsNoEnd() {
    var seen = new CompletableFuture<Object>();
    var acceptor = served.open(connection -> {
      try {
        seen.complete(all(connection));
      } catch (UncheckedIOException reset) {
        seen.complete(reset);
      }
    });
    new Peer(acceptor.port()).send("one\ntw").reset();

    assertInstanceOf(UncheckedIOException.class, Patience.value(seen));
  }

  @Test
  void anyBytesInAnyPiecesAreTheLinesThatTheJdkReads() throws Exception {
    long seed = Long.getLong("fibry.seed", new Random().nextLong());
    var random = new Random(seed);
    for (int round = 0; round < 60; round++) {
      var sent = new byte[random.nextInt(1 + random.nextInt(30_000))];
      for (int i = 0; i < sent.length; i++) sent[i] = (byte) (switch (random.nextInt(6)) {
        case 0 -> '\n';
        case 1 -> '\r';
        default -> 'a' + random.nextInt(26);
      });
      if (round % 3 == 0) Arrays.fill(sent, sent.length / 3, sent.length / 2, (byte) 'l');
      var pieces = new ArrayList<byte[]>();
      for (int at = 0; at < sent.length;) {
        int to = Math.min(sent.length, at + 1 + random.nextInt(round % 2 == 0 ? 100 : 5_000));
        pieces.add(Arrays.copyOfRange(sent, at, to));
        at = to;
      }

      var seen = given(ClientLineReaderTest::all, same -> same, pieces.toArray(byte[][]::new));

      var expected = new BufferedReader(new InputStreamReader(new ByteArrayInputStream(sent), StandardCharsets.UTF_8))
          .lines().toList();
      assertEquals(expected, seen, "-Dfibry.seed=" + seed);
    }
  }
}
