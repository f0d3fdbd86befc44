package io.fibry.bench.peer;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Thread pools with a bounded queue, where a sender that finds no room waits. */
public final class BoundedExecutor {
  private BoundedExecutor() {}

  /** A pool of daemon threads. */
  public static ThreadPoolExecutor of(int threads, int room) {
    return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(room),
        Thread.ofPlatform().daemon().factory(), BoundedExecutor::enqueue);
  }

  private static void enqueue(Runnable task, ThreadPoolExecutor executor) {
    try {
      executor.getQueue().put(task);
    } catch (InterruptedException never) {
      throw new AssertionError(never);
    }
  }
}
