package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Handler;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
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

class TcpLineReaderTest {
  private final ServerScope net = new ServerScope();

  @AfterEach
  void close() {
    net.close();
  }

  /** Returns the result of the handler for a client that sends these pieces. */
  private Object handle(Handler.Returning<TcpConnection, Object> handler, UnaryOperator<TcpOptions> options,
      byte[]... pieces) {
    var result = new CompletableFuture<Object>();
    var acceptor = net.open(connection -> {
      try {
        result.complete(handler.handle(connection));
      } catch (Throwable failure) {
        result.complete(failure);
        throw failure;
      }
    }, options);
    try (var peer = new Peer(acceptor.port())) {
      try {
        for (var piece : pieces) peer.send(piece);
        peer.endOutput();
      } catch (UncheckedIOException closed) {
        // the handler has completed its result and closed the connection
      }
      return Patience.value(result);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> allLines(TcpConnection connection) {
    var lines = new ArrayList<String>();
    connection.lines().forEach(lines::add);
    return lines;
  }

  private Object lines(String... pieces) {
    return handle(TcpLineReaderTest::allLines, o -> o,
        Arrays.stream(pieces).map(TcpLineReaderTest::bytes).toArray(byte[][]::new));
  }

  @Test
  void linesEndAtAnyLineSeparatorAndAtEndOfStream() {
    assertEquals(List.of("one", "two", "", "three", "four", "", "last"), lines("one\ntwo\r\n\r\nthree\rfour\r\rlast"));
    assertEquals(List.of(), lines());
    assertEquals(List.of(""), lines("\r", "\n"));
  }

  @Test
  void linesAreUtf8AndMalformedBytesAreReplaced() {
    assertEquals(List.of("äöü€😀"), lines("äöü€😀"));
    assertEquals(List.of("a\ufffdb", "c"),
        handle(TcpLineReaderTest::allLines, o -> o, new byte[] {'a', (byte) 0xff}, new byte[] {'b', '\n', 'c'}));
  }

  @Test
  void tooLongLineIsRefusedWithItsLimit() {
    var failure = assertInstanceOf(UncheckedIOException.class,
        handle(TcpLineReaderTest::allLines, o -> o.withMaxFrame(10_000), bytes("x".repeat(10_001))));

    assertInstanceOf(ProtocolException.class, failure.getCause());
    assertTrue(
        failure.getMessage()
            .matches("client /127.0.0.1:\\d+ sent a line longer than 10000 bytes; withMaxFrame allows more"),
        failure.getMessage());
    assertEquals(0, net.letters.all.size());
  }

  @Test
  void lineOfMaximumLengthIsRead() {
    var line = "x".repeat(10_000);

    assertEquals(List.of(line, line),
        handle(TcpLineReaderTest::allLines, o -> o.withMaxFrame(10_000), bytes(line + "\r\n" + line)));
  }

  @Test
  void secondIterationOfLinesContinuesAfterFirstIteration() {
    var result = handle(connection -> {
      var first = connection.lines().iterator().next();
      var remaining = allLines(connection);
      assertFalse(connection.lines().iterator().hasNext());
      assertThrows(NoSuchElementException.class, () -> connection.lines().iterator().next());
      return first + remaining;
    }, o -> o, bytes("a\r\nb\nc\n"));

    assertEquals("a[b, c]", result);
  }

  @Test
  void handlerMayAlternateReadsOfLinesAndBytes() {
    var result =
        handle(connection -> connection.lines().iterator().next() + new String(connection.inputStream().readNBytes(3))
            + allLines(connection), o -> o, bytes("head\nabc\ntail"));

    assertEquals("headabc[, tail]", result);
  }

  @Test
  void iterationOfLinesThrowsWhenClientResetsConnection() {
    var result = new CompletableFuture<Object>();
    var acceptor = net.open(connection -> {
      try {
        result.complete(allLines(connection));
      } catch (UncheckedIOException reset) {
        result.complete(reset);
      }
    });
    new Peer(acceptor.port()).send("one\ntw").reset();

    assertInstanceOf(UncheckedIOException.class, Patience.value(result));
  }

  @Test
  void linesSentInRandomPiecesAreReadAsByJdkReader() throws Exception {
    long seed = StressRuns.seed();
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
      for (int position = 0; position < sent.length;) {
        int end = Math.min(sent.length, position + 1 + random.nextInt(round % 2 == 0 ? 100 : 5_000));
        pieces.add(Arrays.copyOfRange(sent, position, end));
        position = end;
      }

      var result = handle(TcpLineReaderTest::allLines, o -> o, pieces.toArray(byte[][]::new));

      var expected = new BufferedReader(new InputStreamReader(new ByteArrayInputStream(sent), StandardCharsets.UTF_8))
          .lines().toList();
      assertEquals(expected, result, "-Dfibry.seed=" + seed);
    }
  }
}
