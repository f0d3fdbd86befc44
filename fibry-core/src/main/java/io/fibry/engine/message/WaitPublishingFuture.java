package io.fibry.engine.message;

import io.fibry.engine.queue.PoolWaitFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A future that publishes the wait of a handler that calls {@code get} or {@code join}, so that
 * cycles are found.
 */
abstract class WaitPublishingFuture<R> extends PoolWaitFuture<R> {
  /**
   * Publishes that the handler on this thread waits. Returns null if this thread runs no handler,
   * or the answer has arrived.
   */
  public abstract Wait publish(boolean ignoresInterrupts);

  /**
   * Waits for the result at a lower cost than {@code CompletableFuture}, if this future can. May
   * return before the result is set.
   */
  void parkCheaply() {}

  @Override
  public R get() throws InterruptedException, ExecutionException {
    try (var wait = publish(false)) {
      WaitCycle.throwIfCycle(wait);
      return park();
    }
  }

  @Override
  public R get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    try (var wait = publish(false)) {
      WaitCycle.throwIfCycle(wait);
      return super.get(timeout, unit);
    }
  }

  @Override
  public R join() {
    try (var wait = publish(true)) {
      WaitCycle.throwIfCycle(wait);
      parkCheaply();
      return super.join();
    }
  }

  /** Waits without publishing the wait. */
  public R park() throws InterruptedException, ExecutionException {
    parkCheaply();
    return super.get();
  }

  /** Waits for at most {@code nanos} ns, without publishing the wait. */
  public R park(long nanos) throws InterruptedException, ExecutionException, TimeoutException {
    return super.get(nanos, TimeUnit.NANOSECONDS);
  }
}
