package io.fibry.time;

import java.util.concurrent.locks.LockSupport;

/**
 * Wakes the thread that made it, when a timer runs it. A sleeping fiber keeps its stack and this
 * object in the heap. Both are smaller than with a {@link java.util.concurrent.CountDownLatch}.
 *
 * <p>The timer's thread writes {@code isPending} and then unparks the sleeper. The sleeper reads
 * {@code isPending} and then parks, so the wake-up is not lost.
 */
final class WakeUpTask implements Runnable {
  private final Thread sleeper = Thread.currentThread();
  private volatile boolean isPending = true; // cleared by the timer's thread, read by the sleeper

  @Override
  public void run() {
    isPending = false;
    LockSupport.unpark(sleeper);
  }

  /** Returns whether the sleeper must park. Throws if it is interrupted. */
  boolean isPending() throws InterruptedException {
    if (Thread.interrupted()) throw new InterruptedException();
    return isPending;
  }
}
