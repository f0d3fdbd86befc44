package io.fibry.dashboard;

import java.time.Duration;

/**
 * The recent rises of two counts of an actor, from its last event on for one minute. Both are
 * counted since the older of two base lines. A base line is replaced after one minute, so the
 * rises are of at most two minutes and one sample, and include the last event. Immutable.
 *
 * @param olderEvents the events at the older base line
 * @param olderOthers the other count at the older base line
 * @param olderNanos the age of the older base line: the time of which the counts are
 * @param newerEvents the events at the newer base line
 * @param newerOthers the other count at the newer base line
 * @param newerNanos the age of the newer base line
 * @param sinceNanos nanoseconds since a count of events that was higher than the count before
 */
record RecentCounts(long olderEvents, long olderOthers, long olderNanos, long newerEvents, long newerOthers,
    long newerNanos, long sinceNanos) {
  private static final long PERIOD_NANOS = Duration.ofMinutes(1).toNanos();
  /** Shared by all actors without an event within the last minute. */
  static final RecentCounts NONE = new RecentCounts(0, 0, 0, 0, 0, 0, ActorProblem.RECENT_NANOS);

  /**
   * Returns the counts in the next snapshot.
   *
   * @param eventsBefore the events in the previous snapshot
   * @param othersBefore the other count in the previous snapshot
   */
  RecentCounts next(long eventsBefore, long othersBefore, long events, long others, long elapsedNanos) {
    boolean hasHappened = events > eventsBefore && elapsedNanos < ActorProblem.RECENT_NANOS;
    if (!hasHappened && sinceNanos + elapsedNanos >= ActorProblem.RECENT_NANOS) return NONE;
    long nextSince = hasHappened ? 0 : sinceNanos + elapsedNanos;
    if (this == NONE)
      return new RecentCounts(eventsBefore, othersBefore, elapsedNanos, eventsBefore, othersBefore, elapsedNanos,
          nextSince);
    return newerNanos + elapsedNanos < PERIOD_NANOS
        ? new RecentCounts(olderEvents, olderOthers, olderNanos + elapsedNanos, newerEvents, newerOthers,
            newerNanos + elapsedNanos, nextSince)
        : new RecentCounts(newerEvents, newerOthers, newerNanos + elapsedNanos, events, others, 0, nextSince);
  }

  /** Returns whether an event has happened within the last minute. */
  boolean isRecent() {
    return sinceNanos < ActorProblem.RECENT_NANOS;
  }

  /** Returns how many recent events there are, of this number since the start. */
  long events(long events) {
    return isRecent() ? events - olderEvents : 0;
  }

  /** Returns by how much the other count has risen recently, to this number since the start. */
  long others(long others) {
    return isRecent() ? others - olderOthers : 0;
  }

  /** Returns the time of which the counts are. */
  long periodMillis() {
    return olderNanos / 1_000_000;
  }
}
