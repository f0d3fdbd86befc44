package io.fibry.bench.peer;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Thread pools with a bounded queue. A sender waits while the queue is full. */
public final class BoundedExecutor {
  private BoundedExecutor() {}

  /** Returns a pool of daemon threads, whose queue holds {@code capacity} tasks. */
  public static ThreadPoolExecutor of(int threads, int capacity) {
    return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(capacity),
        Thread.ofPlatform().daemon().factory(), BoundedExecutor::enqueue);
  }

  private static void enqueue(Runnable task, ThreadPoolExecutor executor) {
    try {
      executor.getQueue().put(task);
    } catch (InterruptedException interruption) {
      throw new AssertionError(interruption);
    }
  }
}
