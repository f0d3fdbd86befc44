package io.fibry.engine.jvm;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The calls of the {@code toString} of one class of messages. At most four run at a time, so that
 * calls that never return occupy at most four threads. Thread-safe.
 *
 * <p>A caller that finds four calls waits until one of them ends, because quick calls of many
 * threads often meet. A caller that has waited in vain for as long as a call may take concludes
 * that all four hang. Callers after it do not wait until a call ends. The flag is only a hint: if a
 * call ends while the flag is set, the next callers do not wait, but may still find a free call.
 */
final class TextCalls {
  private static final int MAX_CALLS = 4;

  private final Semaphore free = new Semaphore(MAX_CALLS);
  // set by a caller that has waited in vain; cleared by each call that ends
  private volatile boolean hangs;

  /** Returns whether the caller may call {@code toString}; the call must {@link #end}. */
  boolean begin() {
    if (free.tryAcquire()) return true;
    if (hangs) return false;
    boolean wasInterrupted = Thread.interrupted();
    try {
      if (free.tryAcquire(BoundedCall.RUNNING_LIMIT_MILLIS, TimeUnit.MILLISECONDS)) return true;
      hangs = true;
    } catch (InterruptedException interruption) {
      wasInterrupted = true;
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
    return false;
  }

  void end() {
    hangs = false;
    free.release();
  }
}
