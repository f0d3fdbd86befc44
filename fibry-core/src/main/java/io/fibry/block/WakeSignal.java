package io.fibry.block;

import io.fibry.engine.queue.PoolWaitFuture;
import java.util.concurrent.ExecutionException;

/** Wakes one thread that waits for other code of a block, also on a thread of a ForkJoinPool. */
public final class WakeSignal {
  private final PoolWaitFuture<Void> future = new PoolWaitFuture<>();

  /** Waits until another thread calls {@link #wake}. */
  public void await() throws InterruptedException {
    try {
      future.get();
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  public void wake() {
    future.complete(null);
  }
}
