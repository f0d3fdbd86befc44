package io.fibry.bench.durable;

import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Virtual threads that each repeat an operation until a deadline, and their total rate. */
final class Askers {
  static final String UNIT = "ops/s";

  private Askers() {}

  /** One operation of an asker; {@code asker} is its index, from 0. */
  interface Step {
    void run(int asker) throws Exception;
  }

  /** All operations of an asker until a deadline. */
  interface Job {
    /**
     * Repeats the operation until {@code deadline}, a time of {@link System#nanoTime}. Returns how
     * many operations it completed.
     */
    long run(int asker, long deadline) throws Exception;
  }

  /**
   * Returns the number of askers for measurements with many askers: property {@code size}, or
   * 1,024.
   */
  static int manyAskers() {
    return Integer.getInteger("size", 1_024);
  }

  /** Returns the duration of a round in nanoseconds: property {@code seconds}, or 0.4 seconds. */
  static long roundNanos() {
    return (long) (Double.parseDouble(System.getProperty("seconds", "0.4")) * 1e9);
  }

  /** Returns the operations per second of all askers together, until the last asker has ended. */
  static double rate(int askers, Step step) throws Exception {
    return rateOfJob(askers, (asker, deadline) -> {
      long operations = 0;
      do {
        step.run(asker);
        operations++;
      } while (System.nanoTime() < deadline);
      return operations;
    });
  }

  /** Returns the operations per second of all jobs together, until the last asker has ended. */
  static double rateOfJob(int askers, Job job) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      long start = System.nanoTime();
      long deadline = start + roundNanos();
      var results =
          IntStream.range(0, askers).mapToObj(asker -> threads.submit(() -> job.run(asker, deadline))).toList();
      long operations = 0;
      for (Future<Long> result : results) operations += result.get();
      return operations * (double) TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start);
    }
  }
}
