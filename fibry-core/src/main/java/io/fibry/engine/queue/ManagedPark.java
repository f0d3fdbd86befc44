package io.fibry.engine.queue;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A park of a thread of a ForkJoinPool. The park is announced to the pool, so that another thread
 * of the pool works in place of the parked thread. Otherwise the task that ends the wait might
 * never run. The thread parks for 100 ms at most and then checks again, because on Java 21 a pool
 * may forget to wake a thread. The condition is checked right before each park, because the pool
 * may consume the permit of an unpark.
 */
record ManagedPark(BooleanSupplier condition, Object blocker) implements ForkJoinPool.ManagedBlocker {
  static final long RECHECK_NANOS = 100_000_000L;

  /**
   * Parks until the condition is true. Another thread must unpark this thread when the condition
   * may have changed.
   */
  static void until(BooleanSupplier condition, Object blocker) {
    if (Thread.currentThread() instanceof ForkJoinWorkerThread) parkManaged(new ManagedPark(condition, blocker));
    while (!condition.getAsBoolean()) LockSupport.park(blocker);
  }

  private static void parkManaged(ManagedPark park) {
    try {
      ForkJoinPool.managedBlock(park);
    } catch (Throwable failure) {
      // the caller parks without the pool; if the condition threw, it throws there again
    }
  }

  @Override
  public boolean isReleasable() {
    return condition.getAsBoolean();
  }

  @Override
  public boolean block() {
    if (!isReleasable()) LockSupport.parkNanos(blocker, RECHECK_NANOS);
    return isReleasable();
  }
}
