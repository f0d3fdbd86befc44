package io.fibry.bench;

import java.util.Arrays;

/** Measures two workloads in turns, so that the noise of the machine affects both. */
final class PairedMeasurement {
  private static final int WARM_UP = 4;
  private static final int ROUNDS = 11;

  private PairedMeasurement() {}

  interface Workload {
    double nanosEach(int times) throws Exception;
  }

  /** Medians over the rounds; {@code least} and {@code most} are of their ratios. */
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

  private static double timed(Workload workload, int times) throws Exception {
    System.gc(); // neither pays for the other's garbage
    return workload.nanosEach(times);
  }
}
