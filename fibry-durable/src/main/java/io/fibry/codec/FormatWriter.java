package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.UUID;

/**
 * Writes the items of one value, in their order. A method throws a {@link CodecException} if the
 * format cannot express an item, or if the whole value exceeds {@link Format#MAX_BYTES} or
 * {@link Format#MAX_DEPTH}. Used by one thread.
 */
public interface FormatWriter {

  /**
   * Writes an integer of 64 bits.
   *
   * @param value any integer
   */
  void integer(long value);

  /**
   * Writes an integer of any size.
   *
   * @param value any integer
   */
  void bigInteger(BigInteger value);

  /**
   * Writes a decimal number with its scale.
   *
   * @param value any decimal number
   */
  void decimal(BigDecimal value);

  /**
   * Writes a floating-point number of 32 bits.
   *
   * @param value any number, finite or not
   */
  void float32(float value);

  /**
   * Writes a floating-point number of 64 bits.
   *
   * @param value any number, finite or not
   */
  void float64(double value);

  /**
   * Writes true or false.
   *
   * @param value the truth value
   */
  void bool(boolean value);

  /**
   * Writes a text: a value, or the name of a field or of a type.
   *
   * @param value a text without unpaired surrogates
   */
  void text(String value);

  /**
   * Writes an array of bytes.
   *
   * @param value the bytes
   */
  void bytes(byte[] value);

  /**
   * Writes a UUID.
   *
   * @param value any UUID
   */
  void uuid(UUID value);

  /** Writes that there is no value. */
  void nothing();

  /**
   * Writes a value that the format writes as a whole, without calls for its items. Called only for
   * types of which {@link Format#example} returns an example.
   *
   * @param type the declared type of the value
   * @param value a value of this type
   */
  default void whole(Class<?> type, Object value) {
    throw new UnsupportedOperationException(type.getName());
  }

  /**
   * Begins an array: its elements follow, then {@link #end}.
   *
   * @param elements the number of elements
   */
  void beginArray(int elements);

  /**
   * Begins a map: its entries follow, each a key and a value, then {@link #end}.
   *
   * @param entries the number of entries
   */
  void beginMap(int entries);

  /** Ends an array or a map. */
  void end();

  /** {@return the bytes of the value, all of whose items have been written} */
  byte[] written();
}
