package io.fibry.examples.tour;

import java.lang.ref.Reference;
import java.util.function.Supplier;

/** The heap of many actors or threads that wait for work. */
public final class HeapWork {
  private HeapWork() {}

  /** Actors, without the array that holds them. */
  public static Side.Work actors(Supplier<?> one) {
    return times -> {
      var made = new Object[times];
      long before = used();
      for (int i = 0; i < times; i++) made[i] = one.get();
      long bytes = used() - before;
      Reference.reachabilityFence(made);
      return bytes;
    };
  }

  /** Virtual threads with their stacks, which are in the heap while they wait. */
  public static Side.Work threads() {
    return times -> {
      var threads = new WaitingThreads(times);
      long before = used();
      threads.start();
      long bytes = used() - before;
      threads.end();
      return bytes;
    };
  }

  /** The bytes in use, as soon as two collections agree. */
  private static long used() {
    var runtime = Runtime.getRuntime();
    long last = Long.MAX_VALUE;
    for (int i = 0; i < 10; i++) {
      System.gc();
      long used = runtime.totalMemory() - runtime.freeMemory();
      if (Math.abs(last - used) < 64 * 1024) return used;
      last = used;
    }
    return last;
  }
}
