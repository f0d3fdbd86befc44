package io.fibry.examples.tour;

import io.fibry.Exitable;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;

/** Makes many actors or threads that wait for work. */
public final class CreationWork {
  private CreationWork() {}

  /** Actors around no object. */
  public static Comparison.Work sinks(Stereotypes how) {
    return times -> {
      var made = new Exitable[times];
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) made[i] = how.sink(null);
      long nanos = System.nanoTime() - start;
      // an idle actor on fibers has no thread to end
      if (how != Stereotypes.fibers()) for (var actor : made) actor.close();
      return nanos;
    };
  }

  /** Threads that wait at a gate. */
  public static Comparison.Work parked(ThreadFactory factory) {
    return times -> {
      var gate = new CountDownLatch(1);
      var made = new Thread[times];
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) (made[i] = factory.newThread(() -> await(gate))).start();
      long nanos = System.nanoTime() - start;
      gate.countDown();
      for (var thread : made) thread.join();
      return nanos;
    };
  }

  private static void await(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
