package io.fibry.codec;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Items of CBOR, all of a known length. Whatever the bytes are, it throws a {@link CodecException}
 * or answers, and keeps no more than they take. Of one thread.
 */
final class CborReader {
  private final byte[] bytes;
  private int at;
  private int depth;

  CborReader(byte[] bytes) {
    if (bytes.length > CborWriter.MOST_BYTES)
      throw new CodecException(": " + bytes.length + " bytes; at most " + CborWriter.MOST_BYTES + " are read");
    this.bytes = bytes;
  }

  int at() {
    return at;
  }

  /** To read again from a place where this was. */
  void backTo(int place) {
    at = place;
  }

  void checkEnd() {
    if (at < bytes.length) throw failure(bytes.length - at + " bytes are left over");
  }

  CodecException failure(String what) {
    return new CodecException(": " + what + ", at byte " + at);
  }

  // ---- items

  long integer() {
    int first = first();
    if (first >> 5 > Cbor.NEGATIVE) throw wrong(first, "an integer");
    long value = argument(first);
    if (value < 0) throw failure("the integer has more than 64 bits");
    return first >> 5 == Cbor.UNSIGNED ? value : ~value;
  }

  long integer(long least, long most) {
    long value = integer();
    if (value < least || value > most) throw failure(value + " is not in " + least + ".." + most);
    return value;
  }

  String text() {
    int size = size(Cbor.TEXT);
    int from = at;
    at += size;
    for (int i = from; i < at; i++) {
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

  byte[] bytes() {
    int size = size(Cbor.BYTES);
    at += size;
    return Arrays.copyOfRange(bytes, at - size, at);
  }

  int tag() {
    int first = first();
    if (first >> 5 != Cbor.TAG) throw wrong(first, "a tag");
    long number = argument(first);
    return number >= 0 && number <= Integer.MAX_VALUE ? (int) number : -1;
  }

  void tag(int expected) {
    int number = tag();
    if (number != expected) throw failure("tag " + number + " instead of " + expected);
  }

  boolean bool() {
    int first = first();
    if (first != Cbor.TRUE && first != Cbor.FALSE) throw wrong(first, "true or false");
    return first == Cbor.TRUE;
  }

  /** True: it was null, and is behind us. False: another item comes. */
  boolean isNothing() {
    if (at >= bytes.length || (bytes[at] & 0xff) != Cbor.NULL) return false;
    at++;
    return true;
  }

  float float32() {
    int first = first();
    if (first != Cbor.FLOAT) throw wrong(first, "a number of 32 bits");
    return Float.intBitsToFloat((int) number(Integer.BYTES));
  }

  double float64() {
    int first = first();
    if (first != Cbor.DOUBLE) throw wrong(first, "a number of 64 bits");
    return Double.longBitsToDouble(number(Long.BYTES));
  }

  /** Answers how many items follow, then {@link #end}. */
  int beginArray() {
    return begin(Cbor.ARRAY);
  }

  /** Answers how many keys follow, each with its value, then {@link #end}. */
  int beginMap() {
    return begin(Cbor.MAP);
  }

  private int begin(int major) {
    int count = size(major);
    enter();
    return count;
  }

  private void enter() {
    if (++depth > CborWriter.DEEPEST) throw failure("it is nested more than " + CborWriter.DEEPEST + " deep");
  }

  void end() {
    depth--;
  }

  /** An item of any form. */
  void skip() {
    int first = first();
    switch (first >> 5) {
      case Cbor.UNSIGNED, Cbor.NEGATIVE -> argument(first);
      case Cbor.BYTES, Cbor.TEXT -> {
        int size = checkedSize(argument(first)); // which moves on itself
        at += size;
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
    if (at >= bytes.length) throw failure("the bytes end too early");
    return bytes[at++] & 0xff;
  }

  private CodecException wrong(int first, String expected) {
    at--;
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
    if (bytes.length - at < size) throw failure("the bytes end too early");
    long value = 0;
    for (int i = 0; i < size; i++) value = value << 8 | bytes[at++] & 0xff;
    return value;
  }

  private int size(int major) {
    int first = first();
    if (first >> 5 != major) throw wrong(first, Cbor.name(major));
    return checkedSize(argument(first));
  }

  /** Each item takes a byte or more. */
  private int checkedSize(long size) {
    if (size < 0 || size > bytes.length - at) throw failure("the bytes end too early");
    return (int) size;
  }
}
