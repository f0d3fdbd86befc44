package io.fibry.examples.tour;

import java.lang.ref.Reference;
import java.util.function.Supplier;

/** Measures the time to make many actors or threads that wait for work. */
public final class CreationWork {
  private CreationWork() {}

  /** Makes actors, which are all reachable at the end. */
  public static Side.Work actors(Supplier<?> factory) {
    return count -> {
      var actors = new Object[count];
      long start = System.nanoTime();
      for (int i = 0; i < count; i++) actors[i] = factory.get();
      long nanos = System.nanoTime() - start;
      Reference.reachabilityFence(actors);
      return nanos;
    };
  }

  /**
   * Measures the start of {@code sample} virtual threads, until all are about to wait. Scales the
   * time to the count.
   */
  public static Side.Work threads(int sample) {
    return count -> {
      var threads = new WaitingThreads(sample);
      long start = System.nanoTime();
      threads.start();
      long nanos = System.nanoTime() - start;
      threads.end();
      return (long) ((double) nanos / sample * count);
    };
  }
}
