package io.fibry.codec;

import io.fibry.text.Lines;
import java.util.function.Consumer;

/** How the values of one type are written and read. Immutable. */
interface Shape {

  void write(Object value, ItemWriter out);

  /** @param unknown gets the name of each field that is skipped */
  Object read(ItemReader in, Consumer<String> unknown);

  /** A field of a record, as errors name it. */
  static String field(String name, Class<?> type) {
    return "field '" + Lines.line(name) + "' of " + type.getSimpleName();
  }

  /** Whether it can be the key of a map in each format. */
  default boolean isKey() {
    return false;
  }

  /** Returns the value of a missing field, or null if the field must be there. */
  default Object absent() {
    return null;
  }

  /** Whether some value takes no more than so many levels of arrays and maps. */
  default boolean fitsDepth(int levels) {
    return levels >= 0;
  }

  /** Writes a value that fits. */
  void sample(Sampler sampler, int levels);

  /** Returns a text for a schema; two shapes that read the same bytes alike have the same text. */
  String text();
}
