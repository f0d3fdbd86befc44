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

  /** The bytes in use. The serial collector leaves garbage, except in each fourth collection. */
  private static long used() {
    var runtime = Runtime.getRuntime();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
