package io.fibry.net;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes that are put together, to be written at once. */
final class ByteBuilder {
  byte[] bytes;
  int length;

  ByteBuilder(int expected) {
    bytes = new byte[expected];
  }

  static byte[] latin(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** In Latin-1. */
  void add(String text) {
    add(latin(text));
  }

  void add(byte[] more) {
    add(more, 0, more.length);
  }

  void add(byte[] more, int from, int count) {
    reserve(count);
    System.arraycopy(more, from, bytes, length, count);
    length += count;
  }

  void add(char first, char second) {
    reserve(2);
    bytes[length++] = (byte) first;
    bytes[length++] = (byte) second;
  }

  private void reserve(int count) {
    if (bytes.length - length < count) bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
  }
}
