package io.fibry.examples.tour;

import java.util.ArrayList;
import java.util.List;

/** Measures two sides in turns, so that disturbances affect both; the median round counts. */
public final class Comparison {
  private static final int ROUNDS = 5;
  private static final int LONG_ROUNDS = 3;

  private final long roundNanos;

  public Comparison(int roundMillis) {
    this.roundNanos = roundMillis * 1_000_000L;
  }

  /**
   * Measures the time of one operation. A round has as many operations as fit into its time, but at
   * most {@code max}.
   */
  public Row each(Side ours, Side theirs, int max) throws Exception {
    int[] counts = {ours.warmUp(roundNanos, max), theirs.warmUp(roundNanos, max)};
    double[] medians = inTurns(ours, theirs, counts, ROUNDS);
    return new Row(Row.Unit.EACH, ours.name(), medians[0] / counts[0], theirs.name(), medians[1] / counts[1]);
  }

  /** Measures the time of all operations together, after each side has run for four rounds. */
  public Row total(Side ours, Side theirs, int times) throws Exception {
    ours.run(4 * roundNanos, times);
    theirs.run(4 * roundNanos, times);
    double[] medians = inTurns(ours, theirs, new int[] {times, times}, LONG_ROUNDS);
    return new Row(Row.Unit.TOTAL, ours.name(), medians[0], theirs.name(), medians[1]);
  }

  /** Measures the bytes of one object. */
  public Row heap(Side ours, int times, Side theirs, int theirTimes) throws Exception {
    double[] medians = inTurns(ours, theirs, new int[] {times, theirTimes}, LONG_ROUNDS);
    return new Row(Row.Unit.HEAP, ours.name(), medians[0] / times, theirs.name(), medians[1] / theirTimes);
  }

  /** Returns the medians of both sides, and prints a dot for each round. */
  private static double[] inTurns(Side ours, Side theirs, int[] counts, int rounds) throws Exception {
    var results = List.of(new ArrayList<Long>(), new ArrayList<Long>());
    for (int i = 0; i < 2 * rounds; i++) {
      int side = i % 2;
      results.get(side).add((side == 0 ? ours : theirs).work().measure(counts[side]));
      System.out.print(".");
    }
    return new double[] {median(results.get(0)), median(results.get(1))};
  }

  private static double median(List<Long> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
