package io.fibry.codec;

import java.lang.reflect.RecordComponent;
import java.util.Optional;

/**
 * Defines how the items of a value, such as texts, numbers and maps, become bytes. The default is
 * CBOR; a library may provide another format. A format knows only items: a {@link DerivedCodec}
 * handles types, missing fields and old forms, in the same way for each format. Thread-safe.
 */
public interface Format {

  /** The maximum number of nested arrays and maps that a value may have. */
  int MAX_DEPTH = 64;

  /** The maximum size of a value in bytes. */
  int MAX_BYTES = 16 << 20;

  /** {@return the name of the format; the names of sample files end with it} */
  String name();

  /** {@return a new writer, for one value} */
  FormatWriter newWriter();

  /**
   * Begins to read a value.
   *
   * @param bytes the bytes of a value, at most {@link #MAX_BYTES}
   * @return a new reader, for this value
   */
  FormatReader newReader(byte[] bytes);

  /**
   * Returns the name that a component of a record has in encoded values.
   *
   * @param component a component of any record
   * @return its name in encoded values
   * @throws IllegalArgumentException if the record has an annotation that this format cannot obey
   */
  default String nameOf(RecordComponent component) {
    return component.getName();
  }

  /**
   * Returns the name that a constant of an enum has in encoded values.
   *
   * @param constant a constant of any enum
   * @return its name in encoded values
   * @throws IllegalArgumentException if the enum has an annotation that this format cannot obey
   */
  default String nameOf(Enum<?> constant) {
    return constant.name();
  }

  /**
   * {@return whether keys of maps may be values of any type} If false, keys may only be constants
   * of enums, or simple values such as texts and numbers.
   */
  default boolean hasAnyKey() {
    return true;
  }

  /**
   * Returns an example value of a type, if this format itself writes and reads the values of this
   * type as a whole.
   *
   * @param type any type
   * @return an example; empty if the codec must write values of this type item by item
   */
  default Optional<Object> example(Class<?> type) {
    return Optional.empty();
  }
}
