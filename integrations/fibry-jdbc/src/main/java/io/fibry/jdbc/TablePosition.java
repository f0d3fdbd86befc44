package io.fibry.jdbc;

/**
 * The position of a turn in the history of its kind.
 *
 * @param tx the number of the transaction that stored the turn
 * @param number the value of the turn's column {@code place}, a number of a sequence
 */
record TablePosition(String tx, long number) implements Comparable<TablePosition> {
  static final TablePosition BEGINNING = new TablePosition("0", 0);

  /** Compares positions in the order of the history. */
  @Override
  public int compareTo(TablePosition other) {
    int order = Long.compareUnsigned(Long.parseUnsignedLong(tx), Long.parseUnsignedLong(other.tx));
    return order != 0 ? order : Long.compare(number, other.number);
  }

  @Override
  public String toString() {
    return tx + "." + number;
  }
}
