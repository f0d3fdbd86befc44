package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/**
 * Items of CBOR, all of a known length. For any bytes, it returns a value or throws a
 * {@link CodecException}, and keeps no more memory than they take. Used by one thread.
 */
final class CborReader implements ItemReader {
  private final byte[] bytes;
  private int offset;
  private int depth;
  private final int[] remaining = new int[Format.MAX_DEPTH + 1]; // by depth: elements or entries that come

  CborReader(byte[] bytes) {
    this.bytes = bytes;
  }

  @Override
  public void checkEnd() {
    if (offset < bytes.length) throw failure(bytes.length - offset + " bytes are left over");
  }

  @Override
  public CodecException failure(String what) {
    return CodecException.here(what + ", at byte " + offset);
  }

  // ---- items

  @Override
  public long integer() {
    int first = first();
    if (first >> 5 > Cbor.NEGATIVE) throw wrong(first, "an integer");
    long value = argument(first);
    if (value < 0) throw failure("the integer has more than 64 bits");
    return first >> 5 == Cbor.UNSIGNED ? value : ~value;
  }

  @Override
  public BigInteger bigInteger() {
    int tag = tag();
    if (tag != Cbor.BIG_POSITIVE && tag != Cbor.BIG_NEGATIVE) throw failure("tag " + tag + " is no big integer");
    var value = new BigInteger(1, bytes());
    return tag == Cbor.BIG_NEGATIVE ? value.not() : value;
  }

  @Override
  public BigDecimal decimal() {
    tag(Cbor.DECIMAL);
    if (begin(Cbor.ARRAY) != 2) throw failure("a decimal is two numbers");
    long exponent = integer();
    if (Math.abs(exponent) > Integer.MAX_VALUE) throw failure("a decimal with an exponent of " + exponent);
    var value = new BigDecimal(bigInteger(), (int) -exponent);
    end();
    return value;
  }

  @Override
  public String text() {
    int size = size(Cbor.TEXT);
    int from = offset;
    offset += size;
    for (int i = from; i < offset; i++) {
      if (bytes[i] >= 0) continue;
      return checkedText(from, size);
    }
    return new String(bytes, from, size, StandardCharsets.ISO_8859_1);
  }

  private String checkedText(int from, int size) {
    try {
      return StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
          .decode(ByteBuffer.wrap(bytes, from, size)).toString();
    } catch (CharacterCodingException malformed) {
      throw failure("the text is not UTF-8");
    }
  }

  @Override
  public byte[] bytes() {
    int size = size(Cbor.BYTES);
    offset += size;
    return Arrays.copyOfRange(bytes, offset - size, offset);
  }

  @Override
  public UUID uuid() {
    tag(Cbor.UUID);
    byte[] all = bytes();
    if (all.length != 16) throw failure("a UUID of " + all.length + " bytes");
    var buffer = ByteBuffer.wrap(all);
    return new UUID(buffer.getLong(), buffer.getLong());
  }

  private int tag() {
    int first = first();
    if (first >> 5 != Cbor.TAG) throw wrong(first, "a tag");
    long number = argument(first);
    return number >= 0 && number <= Integer.MAX_VALUE ? (int) number : -1;
  }

  private void tag(int expected) {
    int number = tag();
    if (number != expected) throw failure("tag " + number + " instead of " + expected);
  }

  @Override
  public boolean bool() {
    int first = first();
    if (first != Cbor.TRUE && first != Cbor.FALSE) throw wrong(first, "true or false");
    return first == Cbor.TRUE;
  }

  @Override
  public boolean isNothing() {
    if (offset >= bytes.length || (bytes[offset] & 0xff) != Cbor.NULL) return false;
    offset++;
    return true;
  }

  @Override
  public float float32() {
    int first = first();
    if (first != Cbor.FLOAT) throw wrong(first, "a number of 32 bits");
    return Float.intBitsToFloat((int) number(Integer.BYTES));
  }

  @Override
  public double float64() {
    int first = first();
    if (first != Cbor.DOUBLE) throw wrong(first, "a number of 64 bits");
    return Double.longBitsToDouble(number(Long.BYTES));
  }

  @Override
  public void beginArray() {
    begin(Cbor.ARRAY);
  }

  @Override
  public void beginMap() {
    begin(Cbor.MAP);
  }

  private int begin(int major) {
    int count = size(major);
    enter();
    remaining[depth] = count;
    return count;
  }

  @Override
  public boolean next() {
    return remaining[depth]-- > 0;
  }

  private void enter() {
    if (++depth > Format.MAX_DEPTH) throw failure("it is nested more than " + Format.MAX_DEPTH + " deep");
  }

  @Override
  public void end() {
    depth--;
  }

  @Override
  public Set<String> keys() {
    int start = offset;
    var keys = new HashSet<String>();
    beginMap();
    while (next()) {
      keys.add(text());
      skip();
    }
    end();
    offset = start;
    return keys;
  }

  @Override
  public void skip() {
    int first = first();
    switch (first >> 5) {
      case Cbor.UNSIGNED, Cbor.NEGATIVE -> argument(first);
      case Cbor.BYTES, Cbor.TEXT -> {
        int size = checkedSize(argument(first)); // which moves on itself
        offset += size;
      }
      case Cbor.ARRAY -> skip(checkedSize(argument(first)));
      case Cbor.MAP -> skip(2L * checkedSize(argument(first)));
      case Cbor.TAG -> {
        argument(first);
        skip(1);
      }
      default -> argument(first); // as many bytes as of an integer of that size
    }
  }

  private void skip(long items) {
    enter();
    for (long i = 0; i < items; i++) skip();
    end();
  }

  // ---- the parts of an item

  private int first() {
    if (offset >= bytes.length) throw failure("the bytes end too early");
    return bytes[offset++] & 0xff;
  }

  private CodecException wrong(int first, String expected) {
    offset--;
    return failure(Cbor.name(first >> 5) + " instead of " + expected);
  }

  /** Negative: it has 64 bits. */
  private long argument(int first) {
    int short5 = first & 31;
    if (short5 < 24) return short5;
    if (short5 > 27) throw failure("the length is not known, or reserved");
    return number(1 << short5 - 24);
  }

  private long number(int size) {
    if (bytes.length - offset < size) throw failure("the bytes end too early");
    long value = 0;
    for (int i = 0; i < size; i++) value = value << 8 | bytes[offset++] & 0xff;
    return value;
  }

  private int size(int major) {
    int first = first();
    if (first >> 5 != major) throw wrong(first, Cbor.name(major));
    return checkedSize(argument(first));
  }

  /** Each item takes a byte or more. */
  private int checkedSize(long size) {
    if (size < 0 || size > bytes.length - offset) throw failure("the bytes end too early");
    return (int) size;
  }
}
