package io.fibry.bench;

import java.util.Arrays;

/** Measures two workloads in turns, so that the noise of the machine affects both. */
final class PairedMeasurement {
  private static final int WARM_UP_ROUNDS = 4;
  private static final int ROUNDS = 11;

  private PairedMeasurement() {}

  interface Workload {
    double nanosEach(int times) throws Exception;
  }

  /**
   * The medians over the rounds, in nanoseconds per operation. {@code minRatio} and
   * {@code maxRatio} are the smallest and the largest ratio of a round.
   */
  record Result(double ourNanos, double referenceNanos, double minRatio, double maxRatio) {
    double ratio() {
      return ourNanos / referenceNanos;
    }
  }

  static Result run(Workload ours, Workload reference, int times) throws Exception {
    double[] ourTimes = new double[ROUNDS];
    double[] referenceTimes = new double[ROUNDS];
    double[] ratios = new double[ROUNDS];
    for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      double ourTime = measure(ours, times);
      double referenceTime = measure(reference, times);
      if (round < 0) continue;
      ourTimes[round] = ourTime;
      referenceTimes[round] = referenceTime;
      ratios[round] = ourTime / referenceTime;
    }
    Arrays.sort(ourTimes);
    Arrays.sort(referenceTimes);
    Arrays.sort(ratios);
    return new Result(ourTimes[ROUNDS / 2], referenceTimes[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1]);
  }

  private static double measure(Workload workload, int times) throws Exception {
    System.gc(); // so that no workload pays for garbage of the other
    return workload.nanosEach(times);
  }
}
