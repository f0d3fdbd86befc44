package io.fibry.engine.queue;

import java.util.function.LongSupplier;

/**
 * How fast a queue moves, and so how long who comes now would wait. Guarded by the queue, but for
 * the clock, which is the user's and is read outside its monitor.
 *
 * <p>Since the element that is next came, so many have left, of whatever kind, in so much time: at
 * this pace those who wait now would leave too. Nothing is averaged over the past, so the pace of a
 * resource that slows down is seen while the next one waits; and where nothing waits, nothing is
 * refused, so no worker idles for it.
 */
final class Forecast {
  private final LongSupplier clock;
  private final long target; // nanoseconds
  private long departed; // how many have left the queue so far

  Forecast(LongSupplier clock, long target) {
    this.clock = clock;
    this.target = target;
  }

  /** Outside the monitor. */
  long now() {
    return clock.getAsLong();
  }

  // ---- under the monitor

  void enters(RankedEntry<?> entry, long now) {
    entry.timed = true;
    entry.epoch = now;
    entry.number = departed;
  }

  void depart() {
    departed++;
  }

  /**
   * Whether one would not wait too long behind so many; else it learns how long it would have
   * waited. Next is the first of them.
   */
  boolean isInTime(RankedEntry<?> entry, RankedEntry<?> next, int waiting, long now) {
    long wait = foreseen(next, waiting, now);
    if (wait > target) entry.epoch = wait;
    return wait <= target;
  }

  /**
   * How long who comes behind so many would wait. 0: nobody waits, or the next one was admitted:
   * then no clock was asked, which might have thrown. Senders may come in another order than they
   * read it.
   */
  private long foreseen(RankedEntry<?> next, int waiting, long now) {
    return next == null || !next.timed ? 0
        : (long) ((double) Math.max(0, now - next.epoch) * waiting / (departed - next.number + 1));
  }
}
