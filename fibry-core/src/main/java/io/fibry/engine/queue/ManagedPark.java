package io.fibry.engine.queue;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A thread of a ForkJoinPool that waits. As one that waits for a CompletableFuture does it says so
 * to the pool, which lets another thread work meanwhile: what it waits for may stand behind it in
 * the pool. It says so again every now and then, since on Java 21 the pool may forget to wake a
 * thread for a task.
 *
 * <p>No wake-up is lost: the pool may use up the permit while it makes a thread, so the condition
 * is looked at once more right before each park.
 *
 * @param condition whether the wait is over
 * @param blocker shown in thread dumps
 */
record ManagedPark(BooleanSupplier condition, Object blocker) implements ForkJoinPool.ManagedBlocker {
  private static final long RECHECK_NANOS = 100_000_000L;

  /**
   * Waits, on any thread.
   *
   * @param condition whether it is over; looked at by this thread only, which must be unparked when it
   * may have changed
   * @param blocker shown in thread dumps
   */
  static void until(BooleanSupplier condition, Object blocker) {
    if (Thread.currentThread() instanceof ForkJoinWorkerThread) parkManaged(new ManagedPark(condition, blocker));
    while (!condition.getAsBoolean()) LockSupport.park(blocker);
  }

  private static void parkManaged(ManagedPark park) {
    try {
      ForkJoinPool.managedBlock(park);
    } catch (Throwable without) {
      // it may have no more threads, can make none, or is shut down: then without, and what the
      // condition threw it throws again
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
