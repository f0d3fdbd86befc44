package io.fibry.engine.queue;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * A future whose waits end although a {@code ForkJoinPool} forgot to wake a thread. On Java 21 a
 * pool of two threads may leave a task in the queue of the thread that waits for that task. Each
 * new wait asks the pool again for a thread, so a thread of a pool waits 0.1 s at most, and then
 * waits again. If the pool refuses a thread, or has been stopped, the thread waits without the
 * pool: it checks the future every 10 ms.
 */
public class PoolWaitFuture<R> extends CompletableFuture<R> {
  private static final long CHECK_NANOS = 10_000_000L; // between two checks without the pool

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new PoolWaitFuture<>();
  }

  @Override
  public R get() throws InterruptedException, ExecutionException {
    if (isPoolThread()) while (!isDoneWithin(ManagedPark.RECHECK_NANOS)) continue;
    return super.get();
  }

  @Override
  public R get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    long nanos = unit.toNanos(timeout);
    if (!isPoolThread()) return super.get(nanos, TimeUnit.NANOSECONDS);
    long start = System.nanoTime();
    for (long left = nanos; left > 0 && !isDoneWithin(Math.min(left, ManagedPark.RECHECK_NANOS));)
      left = nanos - (System.nanoTime() - start);
    return super.get(0, TimeUnit.NANOSECONDS);
  }

  @Override
  public R join() {
    if (isPoolThread()) joinOnPool();
    return super.join();
  }

  private void joinOnPool() {
    boolean isInterrupted = false;
    try {
      for (boolean isDone = isDone(); !isDone;) try {
        isDone = isDoneWithin(ManagedPark.RECHECK_NANOS);
      } catch (InterruptedException interrupted) {
        isInterrupted = true; // `join` does not end at an interrupt
        LockSupport.parkNanos(this, CHECK_NANOS); // in a stopped pool, each wait ends like this
      }
    } finally {
      if (isInterrupted) Thread.currentThread().interrupt();
    }
  }

  private boolean isDoneWithin(long nanos) throws InterruptedException {
    try {
      super.get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | CancellationException failed) {
      // the caller throws the failure
    } catch (TimeoutException notYet) {
      return false;
    } catch (RejectedExecutionException noThread) {
      LockSupport.parkNanos(this, Math.min(nanos, CHECK_NANOS));
      if (Thread.interrupted()) throw new InterruptedException();
      return isDone();
    }
    return true;
  }

  private static boolean isPoolThread() {
    return Thread.currentThread() instanceof ForkJoinWorkerThread;
  }
}
