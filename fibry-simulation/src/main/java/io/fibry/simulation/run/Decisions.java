package io.fibry.simulation.run;

import java.util.Arrays;

/**
 * The decisions of a run. Each decision is a rank: the number of ready threads that had been ready
 * for longer than the chosen thread. At a yield point the rank is one if the thread gave way. On a
 * quiet machine all ranks are zero. The text form has only the ranks that are not zero: "3=1,17=2".
 */
public final class Decisions {
  private int[] ranks = new int[64];
  private int count;

  public void add(int rank) {
    if (count == ranks.length) ranks = Arrays.copyOf(ranks, 2 * count);
    ranks[count++] = rank;
  }

  public int count() {
    return count;
  }

  /** Returns the rank of a decision, or zero after the last decision. */
  public int rank(int index) {
    return index < count ? ranks[index] : 0;
  }

  /** {@return the indices of the decisions whose rank is not zero, in ascending order} */
  public int[] deviationIndices() {
    int[] indices = new int[count];
    int size = 0;
    for (int i = 0; i < count; i++) if (ranks[i] != 0) indices[size++] = i;
    return Arrays.copyOf(indices, size);
  }

  /**
   * Returns a copy in which the decisions {@code indices[from]} to {@code indices[to - 1]} have
   * rank zero. Indices after the last decision are ignored.
   */
  public Decisions withoutDeviations(int[] indices, int from, int to) {
    var copy = new Decisions();
    copy.ranks = ranks.clone();
    copy.count = count;
    for (int i = from; i < to && indices[i] < count; i++) copy.ranks[indices[i]] = 0;
    return copy;
  }

  public static Decisions parse(String text) {
    var parsed = new Decisions();
    if (text.isEmpty()) return parsed;
    for (var entry : text.split(",", -1)) {
      var pair = entry.split("=", 2);
      if (pair.length < 2) throw new NumberFormatException("'" + entry + "' is not of the form decision=rank");
      int index = Integer.parseInt(pair[0]);
      if (index < parsed.count)
        throw new NumberFormatException("the decisions of " + text + " are not in ascending order");
      while (parsed.count < index) parsed.add(0);
      parsed.add(Integer.parseInt(pair[1]));
    }
    return parsed;
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    for (int index : deviationIndices())
      text.append(text.isEmpty() ? "" : ",").append(index).append('=').append(ranks[index]);
    return text.toString();
  }
}
