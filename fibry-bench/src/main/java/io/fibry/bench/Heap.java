package io.fibry.bench;

import java.lang.management.ManagementFactory;

/** The heap of this process. */
public final class Heap {
  private static final long AGREEMENT = 64 * 1024;

  private Heap() {}

  /** The bytes in use, as soon as two collections agree. */
  public static long used() throws InterruptedException {
    long last = Long.MAX_VALUE;
    while (true) {
      System.gc();
      Thread.sleep(50);
      long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      if (Math.abs(last - used) < AGREEMENT) return used;
      last = used;
    }
  }
}
