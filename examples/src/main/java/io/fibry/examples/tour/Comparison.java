package io.fibry.examples.tour;

import java.util.ArrayList;
import java.util.List;

/** Measures two ways in turns, so that disturbances hit both; the median round counts. */
public final class Comparison {
  /** Does something many times, and measures itself. */
  public interface Work {
    /** Returns the nanoseconds, without preparation and cleanup. */
    long nanos(int times) throws Exception;
  }

  private final int rounds;
  private final long roundNanos;

  public Comparison(int rounds, int roundMillis) {
    this.rounds = rounds;
    this.roundNanos = roundMillis * 1_000_000L;
  }

  /** At most {@code most} times a round; prints a dot for each round. */
  public Row run(String ours, Work work, String theirs, Work reference, int most) throws Exception {
    var works = List.of(work, reference);
    var times = List.of(new ArrayList<Double>(), new ArrayList<Double>());
    int[] counts = {warmUp(work, most), warmUp(reference, most)};
    for (int i = 0; i < 2 * rounds; i++) {
      int turn = i % 2;
      times.get(turn).add((double) works.get(turn).nanos(counts[turn]) / counts[turn]);
      System.out.print(".");
    }
    return new Row(ours, median(times.get(0)), theirs, median(times.get(1)));
  }

  /** Runs until the code is compiled; returns how many times fit into a round. */
  private int warmUp(Work work, int most) throws Exception {
    int times = Math.min(most, 100);
    long spent = 0;
    while (true) {
      long nanos = Math.max(1, work.nanos(times));
      spent += nanos;
      int fit = Math.clamp((long) ((double) roundNanos / nanos * times), 1, most);
      if (spent > 2 * roundNanos || nanos > roundNanos || fit == most && times == most) return fit;
      times = Math.clamp(times * 2L, 1, fit);
    }
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
