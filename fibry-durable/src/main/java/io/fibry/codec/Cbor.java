package io.fibry.codec;

/**
 * The constants of CBOR (RFC 8949): major types, first bytes and tags. The first byte of an item
 * has the major type of the item in its upper three bits. Its lower five bits are a small argument,
 * the size of the argument, or a simple value.
 */
final class Cbor {
  // major types
  static final int UNSIGNED = 0;
  static final int NEGATIVE = 1;
  static final int BYTES = 2;
  static final int TEXT = 3;
  static final int ARRAY = 4;
  static final int MAP = 5;
  static final int TAG = 6;
  static final int SIMPLE = 7;

  // first bytes of items without content or of fixed size
  static final int FALSE = 0xf4;
  static final int TRUE = 0xf5;
  static final int NULL = 0xf6;
  static final int FLOAT = 0xfa;
  static final int DOUBLE = 0xfb;

  // numbers of tags
  static final int BIG_POSITIVE = 2;
  static final int BIG_NEGATIVE = 3;
  static final int DECIMAL = 4;
  static final int UUID = 37;

  private Cbor() {}

  /** Returns the name of a major type for the text of an exception. */
  static String majorTypeName(int major) {
    return switch (major) {
      case UNSIGNED, NEGATIVE -> "an integer";
      case BYTES -> "bytes";
      case TEXT -> "text";
      case ARRAY -> "an array";
      case MAP -> "a map";
      case TAG -> "a tag";
      default -> "a simple value or a floating-point number";
    };
  }
}
