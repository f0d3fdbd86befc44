package io.fibry.engine.queue;

import java.util.function.LongSupplier;

/**
 * Estimates how long a new entry will wait. The estimator counts how many entries have departed
 * since the first waiting entry came. It assumes that the waiting entries will depart at the same
 * pace. It keeps no average, so it reacts to a slow resource while a single entry waits. An empty
 * queue refuses no entry, because otherwise workers would idle. Guarded by the queue's monitor.
 */
final class WaitEstimator {
  private final LongSupplier clock;
  private final long maxWaitNanos;
  private long departed; // number of departed entries

  WaitEstimator(LongSupplier clock, long maxWaitNanos) {
    this.clock = clock;
    this.maxWaitNanos = maxWaitNanos;
  }

  /**
   * Reads the clock, in nanoseconds. Called outside the monitor, because the clock may be code of a
   * user.
   */
  long now() {
    return clock.getAsLong();
  }

  // ---- under the monitor

  void enter(RankedEntry<?> entry, long now) {
    entry.isTimed = true;
    entry.epoch = now;
    entry.number = departed;
  }

  void depart() {
    departed++;
  }

  /**
   * Returns whether the entry would wait for at most the maximum; if not, stores the estimate in
   * the entry. {@code first} is the first of the {@code waitingCount} entries before it.
   */
  boolean isWithinMaxWait(RankedEntry<?> entry, RankedEntry<?> first, int waitingCount, long now) {
    long wait = estimate(first, waitingCount, now);
    if (wait > maxWaitNanos) entry.epoch = wait;
    return wait <= maxWaitNanos;
  }

  /**
   * Returns the expected wait in nanoseconds; 0 if the queue is empty, or if the first entry was
   * admitted. For an admitted entry the clock is not read, because the clock may throw. Senders may
   * read the clock in one order and enter in another, so {@code now} may be before the arrival of
   * the first entry.
   */
  private long estimate(RankedEntry<?> first, int waitingCount, long now) {
    return first == null || !first.isTimed ? 0
        : (long) ((double) Math.max(0, now - first.epoch) * waitingCount / (departed - first.number + 1));
  }
}
