package io.fibry.net.websocket;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The format of frames, by RFC 6455, section 5: its constants, and methods that make a frame or
 * remove its mask. Each message is sent as one frame.
 */
final class WebSocketFrames {
  static final int CONTINUATION = 0;
  static final int TEXT = 1;
  static final int BINARY = 2;
  static final int CLOSE = 8; // this opcode and all higher opcodes mean control frames
  static final int PING = 9;
  static final int PONG = 10;
  static final int LAST_FRAGMENT = 0x80; // flag in the first byte: no fragment of the message follows
  static final int MASKED = 0x80; // flag in the second byte
  static final int SHORT_LENGTH = 126; // two bytes with the length follow
  static final int LONG_LENGTH = 127; // eight bytes with the length follow
  static final int MAX_CONTROL = 125; // max bytes of data in a control frame

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private WebSocketFrames() {}

  /**
   * Returns the size in bytes of a frame with this length of data; at most
   * {@code Integer.MAX_VALUE}.
   */
  static int size(long length) {
    return (int) Math.min(Integer.MAX_VALUE, length + (length < SHORT_LENGTH ? 2 : length <= 0xffff ? 4 : 10));
  }

  static byte[] encode(int opcode, byte[] data) {
    int length = data.length;
    var frame = new byte[size(length)];
    int dataStart = frame.length - length;
    frame[0] = (byte) (LAST_FRAGMENT | opcode);
    frame[1] = (byte) (dataStart == 2 ? length : dataStart == 4 ? SHORT_LENGTH : LONG_LENGTH);
    for (int i = dataStart - 1, remaining = length; i > 1; i--, remaining >>>= 8) frame[i] = (byte) remaining;
    System.arraycopy(data, 0, frame, dataStart, length);
    return frame;
  }

  /**
   * Returns the length of the text in UTF-8; at most {@code Integer.MAX_VALUE}. Throws an
   * IllegalArgumentException if the text has half of a pair of surrogates.
   */
  static int utf8Size(String text) {
    long size = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (i + 1 == text.length() || !Character.isSurrogatePair(c, text.charAt(i + 1)))
          throw new IllegalArgumentException("character " + i + " of the text is half of a pair of surrogates, which "
              + "UTF-8 cannot have; send whole characters, or bytes");
        i++;
        size += 4;
      } else size += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
    }
    return (int) Math.min(Integer.MAX_VALUE, size);
  }

  static byte[] encodeText(String text) {
    return encode(TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Removes the mask from {@code count} bytes, which begin at {@code from} in the array and at
   * {@code offset} in the data of their frame.
   */
  static void unmask(byte[] bytes, int from, int count, int mask, long offset) {
    int rotatedMask = Integer.rotateLeft(mask, (int) (offset & 3) * 8); // its first byte is for bytes[from]
    long doubledMask = rotatedMask & 0xffff_ffffL | (long) rotatedMask << 32;
    int i = from;
    int end = from + count;
    for (; i <= end - 8; i += 8) LONGS.set(bytes, i, (long) LONGS.get(bytes, i) ^ doubledMask);
    for (int shift = 24; i < end; i++, shift = shift - 8 & 31) bytes[i] ^= (byte) (rotatedMask >>> shift);
  }
}
