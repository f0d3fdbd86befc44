package io.fibry.codec;

import io.fibry.text.Lines;
import java.util.function.Consumer;

/** Writes and reads the values of one type. Immutable after the codec was made. */
interface Shape {

  void write(Object value, FormatWriter out);

  /** @param unknown gets the text of {@link #field} for each field that is skipped */
  Object read(FormatReader in, Consumer<String> unknown);

  /** Returns a text that names a field of a record, for exceptions. */
  static String field(String name, Class<?> type) {
    return "field '" + Lines.line(name) + "' of " + type.getSimpleName();
  }

  /** Returns whether the values can be keys of maps in all formats. */
  default boolean isKey() {
    return false;
  }

  /** Returns the value of a missing field, or null if the field must not be missing. */
  default Object valueIfMissing() {
    return null;
  }

  /**
   * Returns whether some value of this shape needs at most {@code levels} nested arrays and maps.
   */
  default boolean fitsDepth(int levels) {
    return levels >= 0;
  }

  /** Writes a sample value. {@link #fitsDepth} must return true for {@code levels}. */
  void sample(Sampler sampler, int levels);

  /** Returns the name of the sample value that the reader reads next. */
  default String sampleName(FormatReader in) {
    return schemaText();
  }

  /**
   * Returns a text for a schema. Shapes that read the same bytes in the same way have the same
   * text.
   */
  String schemaText();
}
