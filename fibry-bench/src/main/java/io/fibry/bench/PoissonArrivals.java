package io.fibry.bench;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/** Clients that come at random times, independently of each other. */
public final class PoissonArrivals {
  private final Random random;

  public PoissonArrivals(long seed) {
    this.random = new Random(seed);
  }

  /** Passes the time of each arrival before {@code end} to a client, which must not wait. */
  public void run(double perSecond, long end, LongConsumer client) {
    for (double at = System.nanoTime(); (at += -Math.log(1 - random.nextDouble()) / perSecond * 1e9) < end;) {
      waitUntil((long) at);
      client.accept((long) at);
    }
  }

  /** Waits until a time of {@link System#nanoTime}. */
  public static void waitUntil(long time) {
    for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) LockSupport.parkNanos(left);
  }
}
