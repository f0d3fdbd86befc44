package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** Items of CBOR (RFC 8949) in an array that grows. Used by one thread. */
final class CborWriter implements ItemWriter {
  private byte[] bytes = new byte[128];
  private int length;
  private int depth;

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
    number(Float.floatToRawIntBits(value), Integer.BYTES);
  }

  @Override
  public void float64(double value) {
    put(Cbor.DOUBLE);
    number(Double.doubleToRawLongBits(value), Long.BYTES);
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
    if (++depth > Format.MAX_DEPTH) throw CodecException.here("it is nested more than " + Format.MAX_DEPTH + " deep");
    head(major, count);
  }

  @Override
  public void end() {
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
    ensureCapacity(size);
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) bytes[length++] = (byte) (value >>> shift);
  }

  private void put(int one) {
    ensureCapacity(1);
    bytes[length++] = (byte) one;
  }

  private void ensureCapacity(int more) {
    int needed = length + more;
    if (needed < 0 || needed > Format.MAX_BYTES)
      throw CodecException.here("it takes more than " + Format.MAX_BYTES + " bytes");
    if (needed > bytes.length)
      bytes = Arrays.copyOf(bytes, Math.min(Format.MAX_BYTES, Math.max(needed, 2 * bytes.length)));
  }
}
