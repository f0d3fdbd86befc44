package io.fibry.examples.tour;

/** One of two ways that are compared, with the words that name it. */
public record Side(String name, Work work) {
  /** Does something many times, and measures itself. */
  public interface Work {
    /** Returns the nanoseconds, without preparation and cleanup, or the bytes that it keeps. */
    long measure(int times) throws Exception;
  }

  /** Runs until the code is compiled; returns how many times fit into a round. */
  int warmUp(long roundNanos, int most) throws Exception {
    int times = Math.min(most, 100);
    long spent = 0;
    while (true) {
      long nanos = Math.max(1, work.measure(times));
      spent += nanos;
      int fit = Math.clamp((long) ((double) roundNanos / nanos * times), 1, most);
      if (spent > 2 * roundNanos || nanos > roundNanos || fit == most && times == most) return fit;
      times = Math.clamp(times * 2L, 1, fit);
    }
  }

  /** Runs again and again until the time is over. */
  void run(long nanos, int times) throws Exception {
    long start = System.nanoTime();
    do work.measure(times);
    while (System.nanoTime() - start < nanos);
  }
}
