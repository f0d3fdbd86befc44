package io.fibry.block;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that stays sound when the stack of a thread ends. A park near the end of a fiber's stack
 * throws a StackOverflowError. A {@link java.util.concurrent.locks.ReentrantLock} would then keep
 * the thread in its line for ever and wake no thread behind it. The lock is neither reentrant nor
 * fair, and an interrupt does not end a wait for it. {@code try (var held = lock.acquire())} gives it
 * back.
 *
 * <p>A thread enters the line before it tries again; a thread that gives the lock back wakes the
 * first in line afterwards. So one of them sees the other, and while a thread waits, either the
 * lock is held or a thread has been woken to take it. One that leaves without the lock passes its
 * wake-up on.
 */
public final class StackSafeLock implements AutoCloseable {
  private final boolean brief;
  private final AtomicBoolean taken = new AtomicBoolean();
  private final ConcurrentLinkedQueue<Thread> waiters = new ConcurrentLinkedQueue<>();

  /**
   * {@code brief}: its holders never wait. So a fiber that cannot park spins; otherwise it gets the
   * StackOverflowError.
   */
  public StackSafeLock(boolean brief) {
    this.brief = brief;
  }

  public StackSafeLock acquire() {
    SendStackProbe.probe(); // it must be given back
    if (!tryTake()) await();
    return this;
  }

  private boolean tryTake() {
    return !taken.get() && taken.compareAndSet(false, true);
  }

  private void await() {
    var current = Thread.currentThread();
    boolean interrupted = false;
    waiters.add(current);
    try {
      while (!tryTake()) {
        park();
        interrupted |= Thread.interrupted();
      }
      waiters.remove(current);
    } catch (Throwable deep) {
      waiters.remove(current);
      wakeNext();
      throw deep;
    } finally {
      if (interrupted) current.interrupt();
    }
  }

  private void park() {
    try {
      LockSupport.park(this);
    } catch (StackOverflowError deep) {
      if (!brief) throw deep;
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    taken.set(false);
    wakeNext();
  }

  private void wakeNext() {
    LockSupport.unpark(waiters.peek());
  }
}
