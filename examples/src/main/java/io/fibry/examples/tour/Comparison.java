package io.fibry.examples.tour;

import java.util.ArrayList;
import java.util.List;

/** Measures two ways in turns, so that disturbances hit both; the median round counts. */
public final class Comparison {
  private static final int ROUNDS = 5;
  private static final int LONG_ROUNDS = 3;

  private final long roundNanos;

  public Comparison(int roundMillis) {
    this.roundNanos = roundMillis * 1_000_000L;
  }

  /** The time of each. A round has as many as fit into its time, but at most {@code most}. */
  public Row each(Side ours, Side theirs, int most) throws Exception {
    int[] counts = {ours.warmUp(roundNanos, most), theirs.warmUp(roundNanos, most)};
    double[] medians = inTurns(ours, theirs, counts, ROUNDS);
    return new Row(Row.Unit.EACH, ours.name(), medians[0] / counts[0], theirs.name(), medians[1] / counts[1]);
  }

  /** The time of all together, measured after each has run for the time of four rounds. */
  public Row total(Side ours, Side theirs, int times) throws Exception {
    ours.run(4 * roundNanos, times);
    theirs.run(4 * roundNanos, times);
    double[] medians = inTurns(ours, theirs, new int[] {times, times}, LONG_ROUNDS);
    return new Row(Row.Unit.TOTAL, ours.name(), medians[0], theirs.name(), medians[1]);
  }

  /** The bytes of each. */
  public Row heap(Side ours, int times, Side theirs, int theirTimes) throws Exception {
    double[] medians = inTurns(ours, theirs, new int[] {times, theirTimes}, LONG_ROUNDS);
    return new Row(Row.Unit.HEAP, ours.name(), medians[0] / times, theirs.name(), medians[1] / theirTimes);
  }

  /** Prints a dot for each round. */
  private static double[] inTurns(Side ours, Side theirs, int[] counts, int rounds) throws Exception {
    var measured = List.of(new ArrayList<Long>(), new ArrayList<Long>());
    for (int i = 0; i < 2 * rounds; i++) {
      int turn = i % 2;
      measured.get(turn).add((turn == 0 ? ours : theirs).work().measure(counts[turn]));
      System.out.print(".");
    }
    return new double[] {median(measured.get(0)), median(measured.get(1))};
  }

  private static double median(List<Long> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
