package io.fibry.jdbc;

import java.util.regex.Pattern;

/**
 * Where a turn is in the history of its kind.
 *
 * @param tx the transaction that stored it
 * @param number of the turn, among all
 */
record Place(String tx, long number) implements Comparable<Place> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,20})\\.(\\d{1,18})");
  static final Place BEGINNING = new Place("0", 0);

  /** An empty text is the beginning. */
  static Place of(String text, String kind) {
    if (text.isEmpty()) return BEGINNING;
    var form = FORM.matcher(text);
    if (!form.matches())
      throw new IllegalArgumentException("'" + text + "' is no place in the history of kind '" + kind + "'");
    return new Place(form.group(1), Long.parseLong(form.group(2)));
  }

  /** In the order of the history. */
  @Override
  public int compareTo(Place other) {
    int order = Long.compareUnsigned(Long.parseUnsignedLong(tx), Long.parseUnsignedLong(other.tx));
    return order != 0 ? order : Long.compare(number, other.number);
  }

  @Override
  public String toString() {
    return tx + "." + number;
  }
}
