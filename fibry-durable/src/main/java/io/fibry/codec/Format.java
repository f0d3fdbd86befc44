package io.fibry.codec;

import java.lang.reflect.RecordComponent;
import java.util.Optional;

/**
 * How the items that values consist of become bytes: CBOR, unless a library brings another one. It
 * says nothing of types, missing fields and old forms; that a {@link TypeCodec} does, in the same
 * way for each format. Thread-safe.
 */
public interface Format {

  /** The most levels of arrays and maps in each other that are written, or read. */
  int MAX_DEPTH = 64;

  /** The most bytes that a value takes. */
  int MAX_BYTES = 16 << 20;

  /** {@return its name: files with samples end with it} */
  String name();

  /** {@return writes one value} */
  ItemWriter newWriter();

  /**
   * Begins to read a value.
   *
   * @param bytes {@link #MAX_BYTES} at most
   * @return reads one value
   */
  ItemReader newReader(byte[] bytes);

  /**
   * A component of a record, as the bytes call it.
   *
   * @param component of any record
   * @return its name
   * @throws IllegalArgumentException if the record says something that this format cannot do
   */
  default String nameOf(RecordComponent component) {
    return component.getName();
  }

  /**
   * A constant, as the bytes call it.
   *
   * @param constant of any enum
   * @return its name
   * @throws IllegalArgumentException if the enum says something that this format cannot do
   */
  default String nameOf(Enum<?> constant) {
    return constant.name();
  }

  /**
   * {@return whether the key of a map may be any item} If false, it may be a text, or a value that
   * is one item.
   */
  default boolean hasAnyKey() {
    return true;
  }

  /**
   * Returns an example of a type that this format writes as a whole, or an empty value.
   *
   * @param type any type
   * @return empty: a codec knows how
   */
  default Optional<Object> example(Class<?> type) {
    return Optional.empty();
  }
}
