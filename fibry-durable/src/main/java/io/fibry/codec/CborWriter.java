package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** Writes items of CBOR (RFC 8949) to an array that grows. Used by one thread. */
final class CborWriter implements FormatWriter {
  private byte[] bytes = new byte[128];
  private int length; // number of bytes that are written
  private int depth; // number of arrays and maps that have begun and not ended

  @Override
  public byte[] written() {
    return Arrays.copyOf(bytes, length);
  }

  @Override
  public void integer(long value) {
    if (value >= 0) head(Cbor.UNSIGNED, value);
    else head(Cbor.NEGATIVE, ~value);
  }

  @Override
  public void text(String text) {
    bytes(Cbor.TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void bytes(byte[] content) {
    bytes(Cbor.BYTES, content);
  }

  private void bytes(int major, byte[] content) {
    head(major, content.length);
    ensureCapacity(content.length);
    System.arraycopy(content, 0, bytes, length, content.length);
    length += content.length;
  }

  @Override
  public void uuid(UUID uuid) {
    tag(Cbor.UUID);
    bytes(ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits())
        .array());
  }

  @Override
  public void bigInteger(BigInteger value) {
    boolean negative = value.signum() < 0;
    tag(negative ? Cbor.BIG_NEGATIVE : Cbor.BIG_POSITIVE);
    bytes((negative ? value.not() : value).toByteArray());
  }

  @Override
  public void decimal(BigDecimal value) {
    tag(Cbor.DECIMAL);
    beginArray(2);
    integer(-value.scale());
    bigInteger(value.unscaledValue());
    end();
  }

  private void tag(int number) {
    head(Cbor.TAG, number);
  }

  @Override
  public void bool(boolean value) {
    put(value ? Cbor.TRUE : Cbor.FALSE);
  }

  @Override
  public void nothing() {
    put(Cbor.NULL);
  }

  @Override
  public void float32(float value) {
    put(Cbor.FLOAT);
    putBigEndian(Float.floatToRawIntBits(value), Integer.BYTES);
  }

  @Override
  public void float64(double value) {
    put(Cbor.DOUBLE);
    putBigEndian(Double.doubleToRawLongBits(value), Long.BYTES);
  }

  @Override
  public void beginArray(int items) {
    begin(Cbor.ARRAY, items);
  }

  @Override
  public void beginMap(int entries) {
    begin(Cbor.MAP, entries);
  }

  private void begin(int major, int count) {
    if (++depth > Format.MAX_DEPTH)
      throw CodecException.ofFault("it is nested more than " + Format.MAX_DEPTH + " deep");
    head(major, count);
  }

  @Override
  public void end() {
    depth--;
  }

  /** Writes a major type and its argument, which may be an unsigned number of 64 bits. */
  private void head(int major, long value) {
    int firstByte = major << 5;
    if (value >= 0 && value < 24) put(firstByte | (int) value);
    else if (value >= 0 && value < 1L << 8) head(firstByte | 24, value, 1);
    else if (value >= 0 && value < 1L << 16) head(firstByte | 25, value, 2);
    else if (value >= 0 && value < 1L << 32) head(firstByte | 26, value, 4);
    else head(firstByte | 27, value, 8);
  }

  private void head(int firstByte, long value, int size) {
    put(firstByte);
    putBigEndian(value, size);
  }

  private void putBigEndian(long value, int size) {
    ensureCapacity(size);
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) bytes[length++] = (byte) (value >>> shift);
  }

  private void put(int value) {
    ensureCapacity(1);
    bytes[length++] = (byte) value;
  }

  private void ensureCapacity(int addedBytes) {
    int newLength = length + addedBytes;
    if (newLength < 0 || newLength > Format.MAX_BYTES)
      throw CodecException.ofFault("it takes more than " + Format.MAX_BYTES + " bytes");
    if (newLength > bytes.length)
      bytes = Arrays.copyOf(bytes, Math.min(Format.MAX_BYTES, Math.max(newLength, 2 * bytes.length)));
  }
}
