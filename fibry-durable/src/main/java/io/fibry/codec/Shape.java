package io.fibry.codec;

/** How the values of one type are written and read. Immutable. */
interface Shape {

  void write(Object value, ItemWriter out);

  Object read(ItemReader in);

  /** Whether it can be the key of a map in each format. */
  default boolean isKey() {
    return false;
  }

  /** The value of a field that is not there; null: it must be there. */
  default Object absent() {
    return null;
  }

  /** Whether some value takes no more than so many levels of arrays and maps. */
  default boolean fits(int levels) {
    return levels >= 0;
  }

  /** Writes a value that fits. */
  void sample(Sampler sampler, int levels);

  /** The same for two shapes that read the same bytes alike; in the text of a schema. */
  String text();
}
