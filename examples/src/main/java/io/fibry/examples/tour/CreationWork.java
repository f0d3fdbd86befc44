package io.fibry.examples.tour;

import java.lang.ref.Reference;
import java.util.function.Supplier;

/** The time to make many actors or threads that wait for work. */
public final class CreationWork {
  private CreationWork() {}

  /** All of them are alive at the end. */
  public static Side.Work actors(Supplier<?> one) {
    return times -> {
      var made = new Object[times];
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) made[i] = one.get();
      long nanos = System.nanoTime() - start;
      Reference.reachabilityFence(made);
      return nanos;
    };
  }

  /** Virtual threads, until all wait. It starts some; the rest would take as long each. */
  public static Side.Work threads(int some) {
    return times -> {
      var threads = new WaitingThreads(some);
      long start = System.nanoTime();
      threads.start();
      long nanos = System.nanoTime() - start;
      threads.end();
      return (long) ((double) nanos / some * times);
    };
  }
}
