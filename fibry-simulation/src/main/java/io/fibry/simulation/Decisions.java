package io.fibry.simulation;

import java.util.Arrays;

/**
 * The decisions of a run. Each is a rank, the number of ready threads that had been ready for
 * longer than the chosen thread. At a fine point it is one if the thread gave way. Zero is what a
 * quiet machine does. The text form names only ranks other than zero: "3=1,17=2".
 */
final class Decisions {
  private int[] ranks = new int[64];
  private int count;

  void add(int rank) {
    if (count == ranks.length) ranks = Arrays.copyOf(ranks, 2 * count);
    ranks[count++] = rank;
  }

  int count() {
    return count;
  }

  /** Beyond the last one it is zero. */
  int rank(int at) {
    return at < count ? ranks[at] : 0;
  }

  /** {@return where the rank is not zero} */
  int[] deviations() {
    int[] all = new int[count];
    int found = 0;
    for (int i = 0; i < count; i++) if (ranks[i] != 0) all[found++] = i;
    return Arrays.copyOf(all, found);
  }

  /**
   * {@return a copy that takes the oldest thread at the decisions from {@code from} to {@code to},
   * as far as there are so many}
   */
  Decisions without(int[] at, int from, int to) {
    var fewer = new Decisions();
    fewer.ranks = ranks.clone();
    fewer.count = count;
    for (int i = from; i < to && at[i] < count; i++) fewer.ranks[at[i]] = 0;
    return fewer;
  }

  static Decisions parse(String text) {
    var parsed = new Decisions();
    if (text.isEmpty()) return parsed;
    for (var one : text.split(",", -1)) {
      var pair = one.split("=", 2);
      if (pair.length < 2) throw new NumberFormatException("'" + one + "' is no decision and its rank");
      int at = Integer.parseInt(pair[0]);
      if (at < parsed.count) throw new NumberFormatException(text + " is not in order");
      while (parsed.count < at) parsed.add(0);
      parsed.add(Integer.parseInt(pair[1]));
    }
    return parsed;
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    for (int at : deviations()) text.append(text.isEmpty() ? "" : ",").append(at).append('=').append(ranks[at]);
    return text.toString();
  }
}
