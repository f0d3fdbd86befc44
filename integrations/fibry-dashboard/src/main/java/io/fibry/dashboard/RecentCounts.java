package io.fibry.dashboard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The recent rises of two counts of an actor or route, from its last event on for one minute. Both
 * are counted since the oldest of up to eight base lines, which are nine to ten seconds apart.
 * The rises are of the last 60 to 70 seconds, plus a sample if samples are rarer, and include the
 * last event. So a count that stays as high does not fall to its half when a base line is replaced.
 * Immutable.
 *
 * @param baseLines the base lines, oldest first; empty without an event within the last minute
 * @param nanos the present time, as the base lines count it
 * @param sinceNanos nanoseconds since a count of events that was higher than the count before
 */
record RecentCounts(List<BaseLine> baseLines, long nanos, long sinceNanos) {
  private static final long PERIOD_NANOS = Duration.ofMinutes(1).toNanos();
  /** Less than ten seconds, so that the tenth snapshot sets a base line even if it is early. */
  private static final long DISTANCE_NANOS = Duration.ofSeconds(10).toNanos() * 9 / 10;
  /** Shared by all actors and routes without an event within the last minute. */
  static final RecentCounts NONE = new RecentCounts(List.of(), 0, ActorProblem.RECENT_NANOS);

  /** The counts at one moment. */
  record BaseLine(long nanos, long events, long others) {}

  /**
   * Returns the counts in the next snapshot.
   *
   * @param eventsBefore the events in the previous snapshot
   * @param othersBefore the other count in the previous snapshot
   */
  RecentCounts next(long eventsBefore, long othersBefore, long events, long others, long elapsedNanos) {
    boolean hasHappened = events > eventsBefore && elapsedNanos < ActorProblem.RECENT_NANOS;
    if (!hasHappened && sinceNanos + elapsedNanos >= ActorProblem.RECENT_NANOS) return NONE;
    long nextNanos = nanos + elapsedNanos;
    var next = this == NONE ? List.of(new BaseLine(nanos, eventsBefore, othersBefore)) : baseLines;
    if (nextNanos - next.getLast().nanos >= DISTANCE_NANOS) {
      next = new ArrayList<>(next);
      next.add(new BaseLine(nextNanos, events, others));
    }
    int first = 0; // the newest base line that is a minute old, or the first
    while (first + 1 < next.size() && nextNanos - next.get(first + 1).nanos >= PERIOD_NANOS) first++;
    return new RecentCounts(next == baseLines && first == 0 ? next : List.copyOf(next.subList(first, next.size())),
        nextNanos, hasHappened ? 0 : sinceNanos + elapsedNanos);
  }

  /** Returns whether an event has happened within the last minute. */
  boolean isRecent() {
    return sinceNanos < ActorProblem.RECENT_NANOS;
  }

  /** Returns how many recent events there are, of this number since the start. */
  long events(long events) {
    return isRecent() ? events - baseLines.getFirst().events : 0;
  }

  /** Returns by how much the other count has risen recently, to this number since the start. */
  long others(long others) {
    return isRecent() ? others - baseLines.getFirst().others : 0;
  }

  /** Returns the time of which the counts are. */
  long periodMillis() {
    return baseLines.isEmpty() ? 0 : (nanos - baseLines.getFirst().nanos) / 1_000_000;
  }
}
