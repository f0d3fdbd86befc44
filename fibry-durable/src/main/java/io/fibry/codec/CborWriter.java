package io.fibry.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Items of CBOR (RFC 8949) in an array that grows. Of one thread. */
final class CborWriter {
  static final int MOST_BYTES = 16 << 20;
  static final int DEEPEST = 64;

  private byte[] bytes = new byte[128];
  private int length;
  private int depth;

  byte[] written() {
    return Arrays.copyOf(bytes, length);
  }

  void integer(long value) {
    if (value >= 0) head(Cbor.UNSIGNED, value);
    else head(Cbor.NEGATIVE, ~value);
  }

  void text(String text) {
    checkPairs(text);
    bytes(Cbor.TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  void bytes(byte[] content) {
    bytes(Cbor.BYTES, content);
  }

  private void bytes(int major, byte[] content) {
    head(major, content.length);
    room(content.length);
    System.arraycopy(content, 0, bytes, length, content.length);
    length += content.length;
  }

  void tag(int number) {
    head(Cbor.TAG, number);
  }

  void bool(boolean value) {
    put(value ? Cbor.TRUE : Cbor.FALSE);
  }

  void nothing() {
    put(Cbor.NULL);
  }

  void float32(float value) {
    put(Cbor.FLOAT);
    number(Float.floatToRawIntBits(value), Integer.BYTES);
  }

  void float64(double value) {
    put(Cbor.DOUBLE);
    number(Double.doubleToRawLongBits(value), Long.BYTES);
  }

  /** Followed by so many items, then by {@link #end}. */
  void beginArray(int items) {
    begin(Cbor.ARRAY, items);
  }

  /** Followed by so many keys, each with its value, then by {@link #end}. */
  void beginMap(int entries) {
    begin(Cbor.MAP, entries);
  }

  private void begin(int major, int count) {
    if (++depth > DEEPEST) throw new CodecException(": it is nested more than " + DEEPEST + " deep");
    head(major, count);
  }

  void end() {
    depth--;
  }

  private void head(int major, long value) {
    int first = major << 5;
    if (value >= 0 && value < 24) put(first | (int) value);
    else if (value >= 0 && value < 1L << 8) head(first | 24, value, 1);
    else if (value >= 0 && value < 1L << 16) head(first | 25, value, 2);
    else if (value >= 0 && value < 1L << 32) head(first | 26, value, 4);
    else head(first | 27, value, 8);
  }

  private void head(int first, long value, int size) {
    put(first);
    number(value, size);
  }

  private void number(long value, int size) {
    room(size);
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) bytes[length++] = (byte) (value >>> shift);
  }

  private void put(int one) {
    room(1);
    bytes[length++] = (byte) one;
  }

  private void room(int more) {
    int needed = length + more;
    if (needed < 0 || needed > MOST_BYTES)
      throw new CodecException(": it takes more than " + MOST_BYTES + " bytes");
    if (needed > bytes.length) bytes = Arrays.copyOf(bytes, Math.min(MOST_BYTES, Math.max(needed, 2 * bytes.length)));
  }

  /** The JDK would write a question mark for half of a pair. */
  private static void checkPairs(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (!Character.isSurrogate(c)) continue;
      boolean pair = Character.isHighSurrogate(c) && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1));
      if (!pair) throw new CodecException(": the text has half of a surrogate pair at " + i);
      i++;
    }
  }
}
