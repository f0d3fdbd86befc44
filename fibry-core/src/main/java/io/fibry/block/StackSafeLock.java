package io.fibry.block;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that works correctly even if a waiting thread overflows its stack. If a fiber's stack is
 * nearly full, a park throws a StackOverflowError. A {@link
 * java.util.concurrent.locks.ReentrantLock} would then keep the fiber in its queue forever, and
 * would wake no thread behind the fiber. This lock is neither reentrant nor fair, and an interrupt
 * does not end a wait for the lock. Use the lock by {@code try (var held = lock.acquire())}, which
 * releases the lock at the end.
 *
 * <p>A waiting thread adds itself to {@code waiters} and then tries to take the lock. A thread that
 * releases the lock clears {@code isTaken} and then wakes the first waiter. So either the waiter
 * sees that the lock is free, or the releasing thread sees the waiter. Therefore, while a thread
 * waits, the lock is held, or a waiter has been woken to take it. A woken waiter may fail before it
 * has the lock; it then wakes the next waiter.
 */
public final class StackSafeLock implements AutoCloseable {
  private final boolean holdersNeverWait;
  private final AtomicBoolean isTaken = new AtomicBoolean();
  private final ConcurrentLinkedQueue<Thread> waiters = new ConcurrentLinkedQueue<>();

  /**
   * Makes a lock. If its holders never wait while they hold the lock, a fiber whose stack is too
   * full for a park spins until the lock is free. Otherwise such a fiber gets the
   * StackOverflowError.
   */
  public StackSafeLock(boolean holdersNeverWait) {
    this.holdersNeverWait = holdersNeverWait;
  }

  public StackSafeLock acquire() {
    SendStackProbe.probe(); // a stack overflow before the release would leave the lock taken
    if (!tryTake()) await();
    return this;
  }

  private boolean tryTake() {
    return !isTaken.get() && isTaken.compareAndSet(false, true);
  }

  private void await() {
    var waiter = Thread.currentThread();
    boolean wasInterrupted = false;
    waiters.add(waiter);
    try {
      while (!tryTake()) {
        park();
        wasInterrupted |= Thread.interrupted();
      }
      waiters.remove(waiter);
    } catch (Throwable failure) {
      waiters.remove(waiter);
      wakeNext();
      throw failure;
    } finally {
      if (wasInterrupted) waiter.interrupt();
    }
  }

  private void park() {
    try {
      LockSupport.park(this);
    } catch (StackOverflowError overflow) {
      if (!holdersNeverWait) throw overflow;
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    isTaken.set(false);
    wakeNext();
  }

  private void wakeNext() {
    LockSupport.unpark(waiters.peek());
  }
}
