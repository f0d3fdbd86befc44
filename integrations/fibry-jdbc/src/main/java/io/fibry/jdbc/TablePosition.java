package io.fibry.jdbc;

import java.util.regex.Pattern;

/**
 * Where a turn is in the history of its kind.
 *
 * @param tx the transaction that stored it
 * @param number of the turn, among all
 */
record TablePosition(String tx, long number) implements Comparable<TablePosition> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,20})\\.(\\d{1,18})");
  static final TablePosition BEGINNING = new TablePosition("0", 0);

  /** An empty text is the beginning. */
  static TablePosition of(String text, String kind) {
    if (text.isEmpty()) return BEGINNING;
    var form = FORM.matcher(text);
    if (!form.matches())
      throw new IllegalArgumentException("'" + text + "' is no place in the history of kind '" + kind + "'");
    return new TablePosition(form.group(1), Long.parseLong(form.group(2)));
  }

  /** In the order of the history. */
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
