package io.fibry.engine.queue;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A wait that tells the ForkJoinPool of its thread, so that another thread of the pool works
 * meanwhile: the pool may hold the very task that ends the wait. It does so repeatedly, since on
 * Java 21 a pool may forget to wake a thread. The condition is checked right before each park,
 * since the pool may use up the permit.
 */
record ManagedPark(BooleanSupplier condition, Object blocker) implements ForkJoinPool.ManagedBlocker {
  private static final long RECHECK_NANOS = 100_000_000L;

  /** The thread must be unparked when the condition may have changed. */
  static void until(BooleanSupplier condition, Object blocker) {
    if (Thread.currentThread() instanceof ForkJoinWorkerThread) parkManaged(new ManagedPark(condition, blocker));
    while (!condition.getAsBoolean()) LockSupport.park(blocker);
  }

  private static void parkManaged(ManagedPark park) {
    try {
      ForkJoinPool.managedBlock(park);
    } catch (Throwable unmanaged) {
      // the caller parks without the pool; an exception of the condition will be thrown again there
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
