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
 * Reads items of CBOR (RFC 8949), except items of indefinite length. Even for damaged bytes each
 * method returns a value or throws a {@link CodecException}. A length is checked against the
 * remaining bytes before memory is allocated for it. Used by one thread.
 */
final class CborReader implements FormatReader {
  private static final char REPLACEMENT = '\uFFFD'; // the JDK decodes malformed bytes to it
  private static final int INITIAL_DEPTH = 8;

  private final byte[] bytes;
  private int offset; // the offset of the next byte to read
  private int depth; // number of arrays and maps that have begun and not ended
  private int[] remaining = new int[INITIAL_DEPTH]; // by depth: the number of unread elements or entries

  CborReader(byte[] bytes) {
    this.bytes = bytes;
  }

  @Override
  public void checkEnd() {
    if (offset < bytes.length) throw failure(bytes.length - offset + " bytes are left over");
  }

  @Override
  public CodecException failure(String fault) {
    return CodecException.ofFault(fault + ", at byte " + offset);
  }

  // ---- items

  @Override
  public long integer() {
    int firstByte = firstByte();
    if (firstByte >> 5 > Cbor.NEGATIVE) throw unexpected(firstByte, "an integer");
    long value = argument(firstByte);
    if (value < 0) throw failure("the integer has more than 64 bits");
    return firstByte >> 5 == Cbor.UNSIGNED ? value : ~value;
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
    if (begin(Cbor.ARRAY) != 2) throw failure("a decimal must be an array of two numbers");
    long exponent = integer();
    // does not use Math.abs, because Math.abs(Long.MIN_VALUE) is negative
    if (exponent > Integer.MAX_VALUE || exponent < -Integer.MAX_VALUE)
      throw failure("a decimal with an exponent of " + exponent);
    var value = new BigDecimal(bigInteger(), (int) -exponent);
    end();
    return value;
  }

  @Override
  public String text() {
    int size = size(Cbor.TEXT);
    int start = offset;
    offset += size;
    var text = new String(bytes, start, size, StandardCharsets.UTF_8);
    // A text of as many characters as bytes is ASCII, or has replacements of malformed bytes
    return text.length() == size && text.indexOf(REPLACEMENT) < 0 ? text : checkedText(start, size);
  }

  @Override
  public String text(String likely) {
    int size = likely.length();
    if (size >= 24 || bytes.length - offset <= size || bytes[offset] != (byte) (Cbor.TEXT << 5 | size)) return text();
    for (int i = 0; i < size; i++) if (bytes[offset + 1 + i] != likely.charAt(i)) return text(); // also if not ASCII
    offset += 1 + size;
    return likely;
  }

  private String checkedText(int start, int size) {
    try {
      return StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
          .decode(ByteBuffer.wrap(bytes, start, size)).toString();
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
    byte[] content = bytes();
    if (content.length != 16) throw failure("a UUID must have 16 bytes, not " + content.length);
    var buffer = ByteBuffer.wrap(content);
    return new UUID(buffer.getLong(), buffer.getLong());
  }

  private int tag() {
    int firstByte = firstByte();
    if (firstByte >> 5 != Cbor.TAG) throw unexpected(firstByte, "a tag");
    long number = argument(firstByte);
    return number >= 0 && number <= Integer.MAX_VALUE ? (int) number : -1;
  }

  private void tag(int expected) {
    int number = tag();
    if (number != expected) throw failure("tag " + number + " instead of " + expected);
  }

  @Override
  public boolean bool() {
    int firstByte = firstByte();
    if (firstByte != Cbor.TRUE && firstByte != Cbor.FALSE) throw unexpected(firstByte, "true or false");
    return firstByte == Cbor.TRUE;
  }

  @Override
  public boolean isNothing() {
    if (offset >= bytes.length || (bytes[offset] & 0xff) != Cbor.NULL) return false;
    offset++;
    return true;
  }

  @Override
  public float float32() {
    int firstByte = firstByte();
    if (firstByte != Cbor.FLOAT) throw unexpected(firstByte, "a number of 32 bits");
    return Float.intBitsToFloat((int) number(Integer.BYTES));
  }

  @Override
  public double float64() {
    int firstByte = firstByte();
    if (firstByte != Cbor.DOUBLE) throw unexpected(firstByte, "a number of 64 bits");
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
    if (depth == remaining.length) remaining = Arrays.copyOf(remaining, 2 * depth);
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
    int firstByte = firstByte();
    switch (firstByte >> 5) {
      case Cbor.UNSIGNED, Cbor.NEGATIVE -> argument(firstByte);
      case Cbor.BYTES, Cbor.TEXT -> {
        int size = checkedSize(argument(firstByte)); // `offset += checkedSize(..)` would read the offset too early
        offset += size;
      }
      case Cbor.ARRAY -> skip(checkedSize(argument(firstByte)));
      case Cbor.MAP -> skip(2L * checkedSize(argument(firstByte)));
      case Cbor.TAG -> {
        argument(firstByte);
        skip(1);
      }
      default -> argument(firstByte); // a simple value is as long as an integer with the same lower five bits
    }
  }

  private void skip(long items) {
    enter();
    for (long i = 0; i < items; i++) skip();
    end();
  }

  // ---- parts of an item

  private int firstByte() {
    if (offset >= bytes.length) throw failure("the bytes end too early");
    return bytes[offset++] & 0xff;
  }

  private CodecException unexpected(int firstByte, String expected) {
    offset--;
    return failure(Cbor.majorTypeName(firstByte >> 5) + " instead of " + expected);
  }

  /**
   * Returns the argument of an item: the unsigned number that is in the first byte or follows it.
   * The result is negative if the argument needs all 64 bits.
   */
  private long argument(int firstByte) {
    int info = firstByte & 31;
    if (info < 24) return info;
    if (info > 27) throw failure("an item of indefinite length, or of a reserved form, cannot be read");
    return number(1 << info - 24);
  }

  /** Reads an unsigned number of {@code size} bytes, the most significant byte first. */
  private long number(int size) {
    if (bytes.length - offset < size) throw failure("the bytes end too early");
    long value = 0;
    for (int i = 0; i < size; i++) value = value << 8 | bytes[offset++] & 0xff;
    return value;
  }

  private int size(int major) {
    int firstByte = firstByte();
    if (firstByte >> 5 != major) throw unexpected(firstByte, Cbor.majorTypeName(major));
    return checkedSize(argument(firstByte));
  }

  /**
   * Checks a number of bytes or items: it must not exceed the remaining bytes, because each item
   * takes at least one byte.
   */
  private int checkedSize(long size) {
    if (size < 0 || size > bytes.length - offset) throw failure("the bytes end too early");
    return (int) size;
  }
}
