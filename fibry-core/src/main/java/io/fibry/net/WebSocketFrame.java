package io.fibry.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The frames of RFC 6455, section 5. Each message that is sent is one. */
final class WebSocketFrame {
  static final int CONTINUATION = 0;
  static final int TEXT = 1;
  static final int BINARY = 2;
  static final int CLOSE = 8; // this and above: control frames
  static final int PING = 9;
  static final int PONG = 10;
  static final int LAST = 0x80; // of the fragments; in the first byte
  static final int MASKED = 0x80; // in the second byte
  static final int SHORT_LENGTH = 126; // two bytes with the length follow
  static final int LONG_LENGTH = 127; // eight bytes follow
  static final int LONGEST_CONTROL = 125;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private WebSocketFrame() {}

  /** With its data. */
  static int size(long length) {
    return (int) Math.min(Integer.MAX_VALUE, length + (length < SHORT_LENGTH ? 2 : length <= 0xffff ? 4 : 10));
  }

  static byte[] of(int opcode, byte[] data) {
    int length = data.length;
    var frame = new byte[size(length)];
    int at = frame.length - length;
    frame[0] = (byte) (LAST | opcode);
    frame[1] = (byte) (at == 2 ? length : at == 4 ? SHORT_LENGTH : LONG_LENGTH);
    for (int i = at - 1, rest = length; i > 1; i--, rest >>>= 8) frame[i] = (byte) rest;
    System.arraycopy(data, 0, frame, at, length);
    return frame;
  }

  /** In UTF-8; at most {@code Integer.MAX_VALUE}. */
  static int utf8Size(String text) {
    long size = 0;
    for (int i = 0; i < text.length(); i++) {
      char one = text.charAt(i);
      if (Character.isSurrogate(one)) {
        if (i + 1 == text.length() || !Character.isSurrogatePair(one, text.charAt(i + 1)))
          throw new IllegalArgumentException("a text whose character " + i
              + " is half of a pair of surrogates, which UTF-8 cannot have; send whole characters, or bytes");
        i++;
        size += 4;
      } else size += one < 0x80 ? 1 : one < 0x800 ? 2 : 3;
    }
    return (int) Math.min(Integer.MAX_VALUE, size);
  }

  static byte[] text(String text) {
    return of(TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Takes the mask off; {@code at} is where in the frame these bytes begin. */
  static void unmask(byte[] bytes, int from, int count, int mask, long at) {
    int turned = Integer.rotateLeft(mask, (int) (at & 3) * 8); // its first byte is that of the first one
    long twice = turned & 0xffff_ffffL | (long) turned << 32;
    int i = from;
    int end = from + count;
    for (; i <= end - 8; i += 8) LONGS.set(bytes, i, (long) LONGS.get(bytes, i) ^ twice);
    for (int shift = 24; i < end; i++, shift = shift - 8 & 31) bytes[i] ^= (byte) (turned >>> shift);
  }
}
