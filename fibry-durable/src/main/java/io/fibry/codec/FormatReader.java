package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Reads the items of one value, in their order. If the next item is not of the expected type, or if
 * the bytes are damaged, a method throws a {@link CodecException} and no other exception. Used by
 * one thread.
 */
public interface FormatReader {

  /** {@return the next item, an integer of 64 bits} */
  long integer();

  /** {@return the next item, an integer of any size} */
  BigInteger bigInteger();

  /** {@return the next item, a decimal number of any scale} */
  BigDecimal decimal();

  /** {@return the next item, a floating-point number of 32 bits} */
  float float32();

  /** {@return the next item, a floating-point number of 64 bits} */
  double float64();

  /** {@return the next item, true or false} */
  boolean bool();

  /** {@return the next item, a text without unpaired surrogates} */
  String text();

  /**
   * Returns the next item, a text that is probably the name of a field.
   *
   * @param likely the name that is expected
   * @return the text. A format may return {@code likely} itself instead of an equal text
   */
  default String text(String likely) {
    return text();
  }

  /** {@return the next item, an array of bytes} */
  byte[] bytes();

  /** {@return the next item, a UUID} */
  UUID uuid();

  /**
   * {@return whether the next item means that there is no value} Such an item is consumed; any
   * other item is left for the next call.
   */
  boolean isNothing();

  /**
   * Reads a value that {@link FormatWriter#whole} wrote.
   *
   * @param type the declared type of the value
   * @return the value, never null
   */
  default Object whole(Class<?> type) {
    throw new UnsupportedOperationException(type.getName());
  }

  /**
   * Reads a value that {@link FormatWriter#whole} wrote, and reports fields that the type lacks.
   *
   * @param type the declared type of the value
   * @param unknown gets the name of each field that was skipped; never called by formats that
   *     cannot detect such fields
   * @return the value, never null
   */
  default Object whole(Class<?> type, Consumer<String> unknown) {
    return whole(type);
  }

  /** Begins an array. Call {@link #next} before each element, and {@link #end} after the last. */
  void beginArray();

  /** Begins a map. Call {@link #next} before each key, and {@link #end} after the last value. */
  void beginMap();

  /** {@return whether another element, or another key, follows} Called once before each of them. */
  boolean next();

  /** Ends an array or a map; its elements or entries must all have been read. */
  void end();

  /** Skips the next item, of any type, with all items in it. */
  void skip();

  /**
   * {@return the keys of the next item, which is a map} The map itself is left for the next call.
   */
  Set<String> keys();

  /** Throws a {@link CodecException} if bytes follow the value. */
  void checkEnd();

  /**
   * Makes an exception that says where in the bytes this reader is.
   *
   * @param fault the fault, such as "the text is not UTF-8"
   * @return the exception, which the caller throws
   */
  CodecException failure(String fault);
}
