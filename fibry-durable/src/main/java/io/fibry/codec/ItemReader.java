package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Reads the items of one value, in their order. Each method throws a {@link CodecException}, and no
 * other exception, if another item comes, for any bytes. Used by one thread.
 */
public interface ItemReader {

  /** {@return a number} */
  long integer();

  /** {@return a number} */
  BigInteger bigInteger();

  /** {@return a number, of any scale} */
  BigDecimal decimal();

  /** {@return a number} */
  float float32();

  /** {@return a number} */
  double float64();

  /** {@return a truth value} */
  boolean bool();

  /** {@return a text, without halves of surrogate pairs} */
  String text();

  /** {@return bytes} */
  byte[] bytes();

  /** {@return an id} */
  UUID uuid();

  /** {@return true if there was no value, which has been read; false if another item comes} */
  boolean isNothing();

  /**
   * Reads a value that was written as a whole.
   *
   * @param type the declared one
   * @return the value, never null
   */
  default Object whole(Class<?> type) {
    throw new UnsupportedOperationException(type.getName());
  }

  /**
   * Reads a whole value, and reports the fields in it that the type does not have.
   *
   * @param type the declared one
   * @param unknown gets the name of each field that was skipped; nothing, if a format cannot tell
   * @return the value, never null
   */
  default Object whole(Class<?> type, Consumer<String> unknown) {
    return whole(type);
  }

  /** Begins an array. Ask {@link #next} before each element, and call {@link #end} behind them. */
  void beginArray();

  /** Begins a map. Ask {@link #next} before each key, and call {@link #end} behind them. */
  void beginMap();

  /** {@return whether one more element, or key, comes; asked once for each} */
  boolean next();

  /** Ends an array or a map, all of which was read. */
  void end();

  /** Reads one item of any form, which nobody needs. */
  void skip();

  /** {@return the keys of the map that comes; it is read afterwards} */
  Set<String> keys();

  /** Throws if something is behind the value. */
  void checkEnd();

  /**
   * Makes a failure at this place.
   *
   * @param what is wrong
   * @return to be thrown
   */
  CodecException failure(String what);
}
