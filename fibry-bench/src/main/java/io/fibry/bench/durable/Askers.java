package io.fibry.bench.durable;

import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Virtual threads that do the same again and again. */
final class Askers {
  static final String UNIT = "ops/s";

  private Askers() {}

  /** What an asker does; {@code number} says which it is. */
  interface Step {
    void run(int number) throws Exception;
  }

  /** What an asker does with its time. */
  interface Job {
    /** Returns how often it did it. */
    long run(int number, long end) throws Exception;
  }

  /** How many there are where there are many, {@code -Dsize}. */
  static int many() {
    return Integer.getInteger("size", 1_024);
  }

  /** Returns how long they ask, {@code -Dseconds}, in nanoseconds. */
  static long time() {
    return (long) (Double.parseDouble(System.getProperty("seconds", "0.4")) * 1e9);
  }

  /** How often a second it is done by all together, until the last one has ended. */
  static double rate(int askers, Step step) throws Exception {
    return rateOf(askers, (number, end) -> {
      long times = 0;
      do {
        step.run(number);
        times++;
      } while (System.nanoTime() < end);
      return times;
    });
  }

  static double rateOf(int askers, Job job) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      long began = System.nanoTime();
      long end = began + time();
      var all = IntStream.range(0, askers).mapToObj(number -> threads.submit(() -> job.run(number, end))).toList();
      long times = 0;
      for (Future<Long> one : all) times += one.get();
      return times * (double) TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - began);
    }
  }
}
