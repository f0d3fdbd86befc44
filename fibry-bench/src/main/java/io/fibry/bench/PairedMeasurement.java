package io.fibry.bench;

import java.util.Arrays;

/**
 * Two ways to do the same thing, in turns in one process: the noise of the machine strikes both.
 */
final class PairedMeasurement {
  private static final int WARM_UP = 4;
  private static final int ROUNDS = 11;

  private PairedMeasurement() {}

  /** One way: does it so many times and tells how long one took. */
  interface Workload {
    double nanosEach(int times) throws Exception;
  }

  /** What both took, medians over the rounds. */
  record Result(double ours, double reference, double least, double most) {
    double ratio() {
      return ours / reference;
    }
  }

  static Result run(Workload ours, Workload reference, int times) throws Exception {
    double[] a = new double[ROUNDS];
    double[] b = new double[ROUNDS];
    double[] ratios = new double[ROUNDS];
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      double first = timed(ours, times);
      double second = timed(reference, times);
      if (round < 0) continue;
      a[round] = first;
      b[round] = second;
      ratios[round] = first / second;
    }
    Arrays.sort(a);
    Arrays.sort(b);
    Arrays.sort(ratios);
    return new Result(a[ROUNDS / 2], b[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1]);
  }

  private static double timed(Workload side, int times) throws Exception {
    System.gc(); // neither side pays for the other's garbage
    return side.nanosEach(times);
  }
}
