package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.UUID;

/**
 * Writes the items of one value, in their order. It refuses what has no form in its bytes, and what
 * is larger or deeper than a {@link Format} may be. Used by one thread.
 */
public interface ItemWriter {

  /**
   * Writes a number.
   *
   * @param value any
   */
  void integer(long value);

  /**
   * Writes a number.
   *
   * @param value any
   */
  void bigInteger(BigInteger value);

  /**
   * Writes a number, with its scale.
   *
   * @param value any
   */
  void decimal(BigDecimal value);

  /**
   * Writes a number.
   *
   * @param value a number, finite or not
   */
  void float32(float value);

  /**
   * Writes a number.
   *
   * @param value a number, finite or not
   */
  void float64(double value);

  /**
   * Writes a truth value.
   *
   * @param value any
   */
  void bool(boolean value);

  /**
   * Writes a text: a value, the name of a field, or that of a type.
   *
   * @param value without halves of surrogate pairs
   */
  void text(String value);

  /**
   * Writes bytes.
   *
   * @param value any
   */
  void bytes(byte[] value);

  /**
   * Writes an id.
   *
   * @param value any
   */
  void uuid(UUID value);

  /** Writes that there is no value. */
  void nothing();

  /**
   * Writes a value of a type for which the format has an {@link Format#example example}.
   *
   * @param type the declared one
   * @param value of it
   */
  default void whole(Class<?> type, Object value) {
    throw new UnsupportedOperationException(type.getName());
  }

  /**
   * Begins an array: its elements follow, then {@link #end}.
   *
   * @param elements how many
   */
  void beginArray(int elements);

  /**
   * Begins a map: its entries follow, each a key and a value, then {@link #end}.
   *
   * @param entries how many
   */
  void beginMap(int entries);

  /** Ends an array or a map. */
  void end();

  /** {@return the bytes of the value, which has ended} */
  byte[] written();
}
