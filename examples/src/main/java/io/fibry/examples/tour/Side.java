package io.fibry.examples.tour;

/** One of two compared programs, with the name that is printed. */
public record Side(String name, Work work) {
  /** An operation that runs many times, and measures itself. */
  public interface Work {
    /**
     * Returns the nanoseconds without preparation and cleanup, or the bytes of the objects that it
     * makes.
     */
    long measure(int times) throws Exception;
  }

  /** Runs until the code is compiled, and returns how many operations fit into a round. */
  int warmUp(long roundNanos, int max) throws Exception {
    int times = Math.min(max, 100);
    long totalNanos = 0;
    while (true) {
      long nanos = Math.max(1, work.measure(times));
      totalNanos += nanos;
      int fitting = Math.clamp((long) ((double) roundNanos / nanos * times), 1, max);
      if (totalNanos > 2 * roundNanos || nanos > roundNanos || fitting == max && times == max) return fitting;
      times = Math.clamp(times * 2L, 1, fitting);
    }
  }

  /** Repeats the work until the time is over. */
  void run(long nanos, int times) throws Exception {
    long start = System.nanoTime();
    do work.measure(times);
    while (System.nanoTime() - start < nanos);
  }
}
