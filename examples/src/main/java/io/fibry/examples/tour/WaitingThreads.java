package io.fibry.examples.tour;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads that wait until {@link #end}. */
final class WaitingThreads {
  private final Thread[] threads;

  WaitingThreads(int count) {
    this.threads = new Thread[count];
  }

  /** Starts the threads, and returns when all are about to wait. */
  void start() throws InterruptedException {
    var notStarted = new CountDownLatch(threads.length);
    for (int i = 0; i < threads.length; i++) threads[i] = Thread.startVirtualThread(() -> {
      notStarted.countDown();
      LockSupport.park();
    });
    notStarted.await();
  }

  void end() throws InterruptedException {
    for (var thread : threads) LockSupport.unpark(thread);
    for (var thread : threads) thread.join();
  }
}
