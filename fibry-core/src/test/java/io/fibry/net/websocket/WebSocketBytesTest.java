package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.testing.StressRuns;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the code for masks and UTF-8 with simpler code. */
class WebSocketBytesTest {
  private final long seed = StressRuns.seed();
  private final Random random = new Random(seed);

  @Test
  void maskIsRemovedFromBytesInPiecesOfAnyLength() {
    for (int round = 0; round < 20_000; round++) {
      var sent = new byte[random.nextInt(60)];
      random.nextBytes(sent);
      int mask = random.nextInt();
      var expected = sent.clone();
      for (int i = 0; i < sent.length; i++) expected[i] ^= (byte) (mask >> 24 - 8 * (i % 4));

      for (int position = 0, length; position < sent.length; position += length) {
        length = 1 + random.nextInt(sent.length - position);
        WebSocketFrames.unmask(sent, position, length, mask, position);
      }

      assertArrayEquals(expected, sent, "seed " + seed);
    }
  }

  @Test
  void utf8ValidatorAcceptsSameBytesAsJdk() {
    int validCount = 0;
    for (int round = 0; round < 300_000; round++) {
      var bytes = round % 2 == 0 ? bytes() : damagedText();
      var validator = new Utf8Validator();
      int split = random.nextInt(bytes.length + 1);

      boolean isAccepted =
          validator.accepts(bytes, 0, split) && validator.accepts(bytes, split, bytes.length - split)
              && validator.isComplete();

      boolean isValid = isUtf8(bytes);
      if (isValid) validCount++;
      assertEquals(isValid, isAccepted, () -> "seed " + seed + ": " + java.util.HexFormat.of().formatHex(bytes));
    }
    assertTrue(validCount > 10_000, "too few valid texts: " + validCount);
  }

  /** Returns random bytes, each with a value at which the rules of UTF-8 change. */
  private byte[] bytes() {
    int[] edges = {0, 0x61, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
      0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    var bytes = new byte[random.nextInt(6)];
    for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) edges[random.nextInt(edges.length)];
    return bytes;
  }

  private byte[] damagedText() {
    var text = new StringBuilder();
    for (int i = random.nextInt(5); i >= 0; i--)
      text.appendCodePoint(random.nextInt(1 << random.nextInt(7, 21)) & 0xf_ffff);
    var bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    if (random.nextBoolean()) bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    return bytes;
  }

  private static boolean isUtf8(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException malformed) {
      return false;
    }
  }

  @Test
  void computedFrameSizeEqualsSizeOfEncodedFrame() {
    for (var text : new String[] {"", "a", "ä", "€", "\ud83d\ude00", "a\ud83d\ude00ä"}) {
      assertEquals(text.getBytes(StandardCharsets.UTF_8).length, WebSocketFrames.utf8Size(text));
      assertEquals(WebSocketFrames.encodeText(text).length, WebSocketFrames.size(WebSocketFrames.utf8Size(text)));
    }
    for (int length : new int[] {0, 125, 126, 65_535, 65_536})
      assertEquals(WebSocketFrames.encode(2, new byte[length]).length, WebSocketFrames.size(length));
  }
}
