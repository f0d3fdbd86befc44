package io.fibry.engine.queue;

import java.util.function.LongSupplier;

/**
 * Predicts how long a new entry will wait: since the next entry came some entries have departed,
 * and the waiting entries will depart at the same pace. It keeps no average, so it notices a slow
 * resource while a single entry waits. An empty queue refuses nothing, or workers would idle.
 * Guarded by the queue.
 */
final class WaitEstimator {
  private final LongSupplier clock;
  private final long maxWaitNanos; // nanoseconds
  private long departed;

  WaitEstimator(LongSupplier clock, long target) {
    this.clock = clock;
    this.maxWaitNanos = target;
  }

  /** Outside the monitor. */
  long now() {
    return clock.getAsLong();
  }

  // ---- under the monitor

  void enter(RankedEntry<?> entry, long now) {
    entry.timed = true;
    entry.epoch = now;
    entry.number = departed;
  }

  void depart() {
    departed++;
  }

  /** Behind {@code waiting} others, {@code next} first. If not, the entry learns its wait. */
  boolean isWithinTarget(RankedEntry<?> entry, RankedEntry<?> next, int waiting, long now) {
    long wait = estimate(next, waiting, now);
    if (wait > maxWaitNanos) entry.epoch = wait;
    return wait <= maxWaitNanos;
  }

  /**
   * 0 also behind an admitted entry: for that the clock, which may throw, is not read. Senders may
   * come in another order than they read it.
   */
  private long estimate(RankedEntry<?> next, int waiting, long now) {
    return next == null || !next.timed ? 0
        : (long) ((double) Math.max(0, now - next.epoch) * waiting / (departed - next.number + 1));
  }
}
