package io.fibry.examples.tour;

import java.lang.ref.Reference;
import java.util.function.Supplier;

/** Measures the heap of many actors or threads that wait for work. */
public final class HeapWork {
  private HeapWork() {}

  /** Measures actors, without the array that holds them. */
  public static Side.Work actors(Supplier<?> factory) {
    return count -> {
      var actors = new Object[count];
      long before = usedBytes();
      for (int i = 0; i < count; i++) actors[i] = factory.get();
      long bytes = usedBytes() - before;
      Reference.reachabilityFence(actors);
      return bytes;
    };
  }

  /** Measures virtual threads with their stacks, which are in the heap while they wait. */
  public static Side.Work threads() {
    return count -> {
      var threads = new WaitingThreads(count);
      long before = usedBytes();
      threads.start();
      long bytes = usedBytes() - before;
      threads.end();
      return bytes;
    };
  }

  /**
   * Returns the used bytes after four collections: the serial collector removes all garbage only in
   * each fourth.
   */
  private static long usedBytes() {
    var runtime = Runtime.getRuntime();
    long min = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      min = Math.min(min, runtime.totalMemory() - runtime.freeMemory());
    }
    return min;
  }
}
