package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import java.time.Duration;

/**
 * What a dashboard remembers of an actor from one snapshot to the next. Immutable. The times are
 * nanoseconds since the dashboard saw the event, and at most {@link #LONG_AGO}, which also stands
 * for an event that it never saw.
 *
 * @param perSecond messages handled per second since the previous snapshot; NaN without it
 * @param sinceHandled since a count of handled messages that was higher than the count before
 * @param sinceFailed since a count of failed messages that was higher than the count before
 * @param sinceRefused since a count of refused messages that was higher than the count before
 * @param noThreadNanos for how long the actor has waited for a thread
 * @param isFull whether the mailbox was full in this snapshot
 * @param stayedFull whether the mailbox was also full in the previous snapshot, if there was one
 */
record ActorTrend(long handled, long failed, long refused, double perSecond, long sinceHandled, long sinceFailed,
    long sinceRefused, long noThreadNanos, boolean isFull, boolean stayedFull, QueueTrend queue) {
  static final long LONG_AGO = Duration.ofMinutes(2).toNanos();
  private static final ActorTrend NONE =
      new ActorTrend(0, 0, 0, 0, LONG_AGO, LONG_AGO, LONG_AGO, 0, false, false, QueueTrend.EMPTY);

  /** Begins with an actor in the first snapshot. */
  static ActorTrend first(ActorStats stats) {
    boolean isFull = isFull(stats);
    return new ActorTrend(stats.handled(), stats.failed(), stats.refused(), Double.NaN, LONG_AGO, LONG_AGO, LONG_AGO, 0,
        isFull, isFull, QueueTrend.of(stats.queued()));
  }

  /** Begins with an actor that was not in the previous snapshot, or had no counts in it. */
  static ActorTrend ofNew(ActorStats stats, long elapsedNanos) {
    return NONE.next(stats, elapsedNanos);
  }

  /**
   * Returns the trend in the next snapshot. Counts that are lower than before belong to a new actor
   * with the name of an ended actor.
   */
  ActorTrend next(ActorStats stats, long elapsedNanos) {
    if (stats.handled() < handled || stats.failed() < failed || stats.refused() < refused)
      return ofNew(stats, elapsedNanos);
    long sinceHandled = since(stats.handled() > handled, this.sinceHandled, elapsedNanos);
    long sinceFailed = since(stats.failed() > failed, this.sinceFailed, elapsedNanos);
    long sinceRefused = since(stats.refused() > refused, this.sinceRefused, elapsedNanos);
    long noThreadNanos = !lacksThread(stats) || stats.handled() > handled ? 0
        : this.noThreadNanos + elapsedNanos;
    boolean isFull = isFull(stats);
    var next = new ActorTrend(stats.handled(), stats.failed(), stats.refused(),
        (stats.handled() - handled) / (elapsedNanos / 1e9), sinceHandled, sinceFailed, sinceRefused, noThreadNanos,
        isFull, isFull && this.isFull, queue.next(stats.queued(), elapsedNanos));
    return next.equals(this) ? this : next; // an idle actor keeps its object
  }

  static long since(boolean hasRisen, long before, long elapsedNanos) {
    return hasRisen ? 0 : Math.min(LONG_AGO, before + elapsedNanos);
  }

  private static boolean isFull(ActorStats stats) {
    return stats.capacity().isPresent() && stats.queued() >= stats.capacity().getAsInt();
  }

  /** Returns whether the actor waits for a thread. */
  static boolean lacksThread(ActorStats stats) {
    return stats.state() == ActorState.READY;
  }

  /** Returns whether this trend differs from the trend of an actor that has done nothing. */
  boolean isWorthKeeping() {
    return handled > 0 || failed > 0 || refused > 0 || noThreadNanos > 0 || queue != QueueTrend.EMPTY;
  }
}
