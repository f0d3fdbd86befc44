package io.fibry.dashboard;

import java.time.Duration;

/**
 * Tells a queue that keeps growing from a queue that is long for a moment. Compares the shortest
 * queue of each ten seconds with the shortest queue of the ten seconds before. If this number rises
 * twice in a row, each time by at least 5 messages and a twentieth, the queue grows steeply. If it
 * rises six times in a row, by at least 10 messages together, the queue grows steadily. The number
 * of a long queue that only varies hardly ever rises six times in a row.
 *
 * <p>A growing queue stays so until the number has reached no new maximum for 30 seconds, or has
 * fallen to half of it, or the queue is empty. So a pause of ten seconds does not end the problem.
 * Immutable.
 *
 * @param steepRises how often in a row the number has risen steeply
 * @param rises how often in a row the number has risen
 * @param startMin the shortest queue before these rises
 * @param lastMin the shortest queue of the last ten seconds that are complete; of a growing queue,
 * the maximum of this number
 * @param min the shortest queue of the ten seconds in progress
 * @param nanos for how long these seconds have been in progress
 * @param pauses for how many times ten seconds a growing queue has reached no new maximum
 */
record QueueTrend(int steepRises, int rises, long startMin, long lastMin, long min, long nanos, int pauses) {
  static final QueueTrend EMPTY = new QueueTrend(0, 0, 0, 0, 0, 0, 0);
  private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();
  private static final int MIN_STEEP_RISES = 2; // so that a single burst is no growth
  private static final long MIN_STEEP_RISE = 5; // messages
  private static final int MIN_RISES = 6; // one minute
  private static final long MIN_GROWTH = 10; // messages in all rises together
  private static final int MAX_PAUSES = 3; // half a minute
  private static final long MAX_COUNTED = 100_000; // ActorStats counts no more messages

  /** Begins with the first length that was seen. */
  static QueueTrend of(long length) {
    return length == 0 ? EMPTY : new QueueTrend(0, 0, MAX_COUNTED, MAX_COUNTED, length, 0, 0);
  }

  QueueTrend next(long length, long elapsedNanos) {
    if (length == 0) return EMPTY; // a queue that was empty does not grow
    if (nanos + elapsedNanos < PERIOD_NANOS) return new QueueTrend(steepRises, rises, startMin, lastMin,
        Math.min(min, length), nanos + elapsedNanos, pauses);
    if (min <= lastMin) return hasRisen() && pauses + 1 < MAX_PAUSES && min > lastMin / 2
        ? new QueueTrend(steepRises, rises, startMin, lastMin, length, 0, pauses + 1)
        : new QueueTrend(0, 0, min, min, length, 0, 0);
    boolean isSteep = hasRisen() || min >= lastMin + Math.max(MIN_STEEP_RISE, lastMin / 20);
    return new QueueTrend(isSteep ? steepRises + 1 : 0, rises + 1, startMin, min, length, 0, 0);
  }

  boolean isGrowing() {
    return hasRisen() || min >= MAX_COUNTED;
  }

  private boolean hasRisen() {
    return steepRises >= MIN_STEEP_RISES || rises >= MIN_RISES && lastMin - startMin >= MIN_GROWTH;
  }
}
