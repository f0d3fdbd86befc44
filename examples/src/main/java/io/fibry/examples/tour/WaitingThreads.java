package io.fibry.examples.tour;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads that wait. */
final class WaitingThreads {
  private final Thread[] threads;

  WaitingThreads(int count) {
    this.threads = new Thread[count];
  }

  /** Returns when all have begun to wait. */
  void start() throws InterruptedException {
    var begun = new CountDownLatch(threads.length);
    for (int i = 0; i < threads.length; i++) threads[i] = Thread.startVirtualThread(() -> {
      begun.countDown();
      LockSupport.park();
    });
    begun.await();
  }

  void end() throws InterruptedException {
    for (var thread : threads) LockSupport.unpark(thread);
    for (var thread : threads) thread.join();
  }
}
