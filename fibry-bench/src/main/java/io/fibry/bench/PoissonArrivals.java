package io.fibry.bench;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/** Lets clients arrive at random times, independent of each other, at a given mean rate. */
public final class PoissonArrivals {
  private final Random random;

  public PoissonArrivals(long seed) {
    this.random = new Random(seed);
  }

  /**
   * Calls {@code client} at each arrival until {@code end}, with the time of the arrival. The
   * arrival and {@code end} are times of {@link System#nanoTime}. The rate is per second. The
   * client must not block.
   */
  public void run(double rate, long end, LongConsumer client) {
    for (double arrival = System.nanoTime(); (arrival += -Math.log(1 - random.nextDouble()) / rate * 1e9) < end;) {
      waitUntil((long) arrival);
      client.accept((long) arrival);
    }
  }

  /** Waits until a time of {@link System#nanoTime}. */
  public static void waitUntil(long time) {
    for (long remaining = time - System.nanoTime(); remaining > 0; remaining = time - System.nanoTime())
      LockSupport.parkNanos(remaining);
  }
}
