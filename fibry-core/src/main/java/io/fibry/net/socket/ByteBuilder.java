package io.fibry.net.socket;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing array. It collects bytes that are then written in one call. */
public final class ByteBuilder {
  public byte[] bytes;
  public int length;

  public ByteBuilder(int initialCapacity) {
    bytes = new byte[initialCapacity];
  }

  public static byte[] latin1Bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Appends the text in Latin-1. */
  public void add(String text) {
    add(latin1Bytes(text));
  }

  public void add(byte[] source) {
    add(source, 0, source.length);
  }

  public void add(byte[] source, int from, int count) {
    reserve(count);
    System.arraycopy(source, from, bytes, length, count);
    length += count;
  }

  public void add(char first, char second) {
    reserve(2);
    bytes[length++] = (byte) first;
    bytes[length++] = (byte) second;
  }

  private void reserve(int count) {
    if (bytes.length - length < count) bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
  }
}
