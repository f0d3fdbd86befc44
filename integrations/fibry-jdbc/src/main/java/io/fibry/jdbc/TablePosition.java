package io.fibry.jdbc;

import java.util.regex.Pattern;

/**
 * The position of a turn in the history of its kind.
 *
 * @param tx the number of the transaction that stored the turn
 * @param number the value of the turn's column {@code place}, a number of a sequence
 */
record TablePosition(String tx, long number) implements Comparable<TablePosition> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,20})\\.(\\d{1,18})");
  static final TablePosition BEGINNING = new TablePosition("0", 0);

  /** Parses an offset. An empty text means the beginning of the history. */
  static TablePosition of(String text, String kind) {
    if (text.isEmpty()) return BEGINNING;
    var matcher = FORM.matcher(text);
    if (!matcher.matches())
      throw new IllegalArgumentException("'" + text + "' is no offset in the history of kind '" + kind + "'");
    return new TablePosition(matcher.group(1), Long.parseLong(matcher.group(2)));
  }

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
