package io.fibry.bench;

import java.lang.management.ManagementFactory;

/** The heap of this process. */
public final class Heap {
  private static final long TOLERANCE = 64 * 1024; // bytes

  private Heap() {}

  /**
   * Collects garbage until two measurements in a row differ by less than 64 KiB, and returns the
   * bytes in use.
   */
  public static long used() throws InterruptedException {
    long previous = Long.MAX_VALUE;
    while (true) {
      System.gc();
      Thread.sleep(50);
      long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      if (Math.abs(previous - used) < TOLERANCE) return used;
      previous = used;
    }
  }
}
