package io.fibry.dashboard;

import java.time.Duration;

/**
 * Tells a queue that keeps growing from a queue that is long for a moment. Compares the shortest
 * queue of each ten seconds with the shortest queue of the ten seconds before. A queue grows if
 * this number has risen twice in a row, each time by at least 5 messages and a twentieth.
 * Immutable.
 *
 * @param rises how often in a row the number has risen
 * @param lastMin the shortest queue of the last ten seconds that are complete
 * @param min the shortest queue of the ten seconds in progress
 * @param nanos for how long these seconds have been in progress
 */
record QueueTrend(int rises, long lastMin, long min, long nanos) {
  static final QueueTrend EMPTY = new QueueTrend(0, 0, 0, 0);
  private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();
  private static final int MIN_RISES = 2; // so that a single burst is no growth
  private static final long MIN_RISE = 5; // messages
  private static final long MAX_COUNTED = 100_000; // ActorStats counts no more messages

  /** Begins with the first length that was seen. */
  static QueueTrend of(long length) {
    return length == 0 ? EMPTY : new QueueTrend(0, MAX_COUNTED, length, 0);
  }

  QueueTrend next(long length, long elapsedNanos) {
    if (length == 0) return EMPTY; // a queue that was empty does not grow
    if (nanos + elapsedNanos < PERIOD_NANOS)
      return new QueueTrend(rises, lastMin, Math.min(min, length), nanos + elapsedNanos);
    boolean hasRisen = min >= lastMin + Math.max(MIN_RISE, lastMin / 20);
    return new QueueTrend(hasRisen ? rises + 1 : 0, min, length, 0);
  }

  boolean isGrowing() {
    return rises >= MIN_RISES || min >= MAX_COUNTED;
  }
}
