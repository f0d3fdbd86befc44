package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import io.fibry.dashboard.ProcessPauses.PauseHistory;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What a dashboard remembers of an actor from one snapshot to the next. Immutable. The times are
 * nanoseconds since the dashboard saw the event, and at most {@link #LONG_AGO}, which also stands
 * for an event that it never saw.
 *
 * @param lost refused and dropped messages
 * @param rate the window of which the rate of handled messages is
 * @param sinceHandled since a count of handled messages that was higher than the count before
 * @param failures the recent failures, and beside them all handled and failed messages
 * @param losses the recently lost messages, and beside them the dropped messages
 * @param sinceLost since a count of lost messages that was higher than the count before
 * @param expirations the recently expired requests
 * @param noThreadNanos for how long the actor has waited for a thread
 * @param suspendedNanos for how long the actor has been suspended after one failure
 * @param isFull whether the mailbox was full in this snapshot
 * @param stayedFull whether the mailbox was also full in the previous snapshot, if there was one
 * @param queued waiting messages
 * @param growth when the queue was growing, and beside it the waiting messages
 * @param problems the problems that the page shows
 */
record ActorTrend(long handled, long failed, long lost, long dropped, long expired, RateWindow rate,
    long sinceHandled, RecentCounts failures, RecentCounts losses, long sinceLost, RecentCounts expirations,
    long noThreadNanos, long suspendedNanos,
    boolean isFull, boolean stayedFull, QueueTrend queue, long queued, RecentCounts growth,
    HeldProblems<ActorProblem> problems) {
  private static final long MIN_RATE_NANOS = Duration.ofMillis(500).toNanos(); // a shorter time gives no useful rate
  /** A shorter suspension is no problem of its own, because the actor is failing. */
  private static final long MIN_SUSPENDED_NANOS = Duration.ofSeconds(3).toNanos();
  private static final int MIN_FAILED = 2; // so that a single failure is no outage
  private static final int MIN_EXPIRED = 2; // so that one impatient asker is no outage
  private static final int MIN_FAILED_PERCENT = 1; // of the messages, as for a route
  static final long LONG_AGO = Duration.ofMinutes(2).toNanos();
  private static final ActorTrend NONE = ofNew(RateWindow.NONE); // shared by all actors that did nothing

  /**
   * A window of five to ten seconds, or since the previous sample if samples are rarer. Its start
   * is the older of two base lines. The newer base line becomes the older after five seconds. The
   * window of an actor that handles nothing stays as it is, so that it is the same object.
   *
   * @param olderCount the count at the older base line
   * @param olderNanos the age of the older base line
   * @param newerCount the count at the newer base line
   * @param newerNanos the age of the newer base line
   */
  record RateWindow(long olderCount, long olderNanos, long newerCount, long newerNanos) {
    private static final long PERIOD_NANOS = Duration.ofSeconds(5).toNanos();
    static final RateWindow NONE = new RateWindow(0, PERIOD_NANOS, 0, 0);

    static RateWindow of(long count) {
      return new RateWindow(count, 0, count, 0);
    }

    RateWindow next(long count, long elapsedNanos) {
      if (count == olderCount && olderNanos >= PERIOD_NANOS) return this;
      return newerNanos + elapsedNanos < PERIOD_NANOS
          ? new RateWindow(olderCount, olderNanos + elapsedNanos, newerCount, newerNanos + elapsedNanos)
          : new RateWindow(newerCount, newerNanos + elapsedNanos, count, 0);
    }

    /** Returns the rate until now; NaN if it is not known yet. */
    double perSecond(long count) {
      return ActorTrend.perSecond(count - olderCount, olderNanos);
    }
  }

  /** Begins with an actor in the first snapshot. */
  static ActorTrend first(ActorStats stats) {
    boolean isFull = isFull(stats);
    return new ActorTrend(stats.handled(), stats.failed(), lost(stats), stats.dropped(), stats.expired(),
        RateWindow.of(stats.handled()), LONG_AGO, RecentCounts.NONE, RecentCounts.NONE, LONG_AGO, RecentCounts.NONE, 0,
        isSuspended(stats) ? MIN_SUSPENDED_NANOS : 0,
        isFull, isFull, QueueTrend.of(stats.queued()), stats.queued(), RecentCounts.NONE, HeldProblems.none());
  }

  /** Begins with an actor that was not in the previous snapshot, or had no counts in it. */
  static ActorTrend ofNew(ActorStats stats, long elapsedNanos) {
    return (stats.handled() == 0 ? NONE : ofNew(RateWindow.of(0))).next(stats, elapsedNanos);
  }

  private static ActorTrend ofNew(RateWindow rate) {
    return new ActorTrend(0, 0, 0, 0, 0, rate, LONG_AGO, RecentCounts.NONE, RecentCounts.NONE, LONG_AGO,
        RecentCounts.NONE, 0, 0, false,
        false, QueueTrend.EMPTY, 0, RecentCounts.NONE, HeldProblems.none());
  }

  /**
   * Returns the trend in the next snapshot. Counts that are lower than before belong to a new actor
   * with the name of an ended actor.
   *
   * @param elapsedNanos the time since this snapshot
   * @param pausedNanos for how long of it the process was paused
   */
  ActorTrend next(ActorStats stats, long elapsedNanos, long pausedNanos) {
    if (stats.handled() < handled || stats.failed() < failed || lost(stats) < lost || stats.dropped() < dropped
        || stats.expired() < expired)
      return ofNew(stats, elapsedNanos);
    long sinceHandled = since(stats.handled() > handled, this.sinceHandled, elapsedNanos);
    var failures = this.failures.next(failed, handled + failed, stats.failed(), stats.handled() + stats.failed(),
        elapsedNanos);
    long sinceLost = since(lost(stats) > lost, this.sinceLost, elapsedNanos);
    var losses = this.losses.next(lost, dropped, lost(stats), stats.dropped(), elapsedNanos);
    var expirations = this.expirations.next(expired, 0, stats.expired(), 0, elapsedNanos);
    long noThreadNanos = !lacksThread(stats) || stats.handled() > handled ? 0
        : this.noThreadNanos + elapsedNanos - pausedNanos;
    long suspendedNanos = !isSuspended(stats) || stats.failed() > failed ? 0
        : Math.min(MIN_SUSPENDED_NANOS, this.suspendedNanos + elapsedNanos - pausedNanos);
    boolean isFull = isFull(stats);
    var nextQueue = queue.next(stats.queued(), elapsedNanos);
    // a growing queue is an event of each snapshot, so the growth is of the last minute
    var nextGrowth = growth.next(0, queued, nextQueue.isGrowing() ? 1 : 0, stats.queued(), elapsedNanos);
    var next = new ActorTrend(stats.handled(), stats.failed(), lost(stats), stats.dropped(), stats.expired(),
        rate.next(stats.handled(), elapsedNanos), sinceHandled, failures, losses, sinceLost, expirations, noThreadNanos,
        suspendedNanos, isFull, isFull && this.isFull, nextQueue, stats.queued(), nextGrowth,
        problems);
    return next.equals(this) ? this : next; // an idle actor keeps its object
  }

  /** Returns the trend in the next snapshot if the process was not paused in the meantime. */
  ActorTrend next(ActorStats stats, long elapsedNanos) {
    return next(stats, elapsedNanos, 0);
  }

  /**
   * Returns the problems whose conditions are true now, the most urgent first. A pause of the
   * process counts neither as work nor as a wait, and a wait for a carrier is no work.
   *
   * @param isBlocked whether the actor only waits for another actor that is stalled
   */
  List<ActorProblem> presentProblems(ActorStats stats, Duration handlingLimit, Duration waitingLimit,
      PauseHistory pauses, boolean isBlocked) {
    var present = new ArrayList<ActorProblem>(0);
    if (stats.state() == ActorState.CUT_OFF) present.add(ActorProblem.CUT_OFF);
    if (!isBlocked && pauses.activeTime(stats).compareTo(handlingLimit) >= 0)
      present.add(ActorProblem.STUCK);
    if (noThreadNanos >= Durations.nanos(handlingLimit)) present.add(ActorProblem.WITHOUT_THREAD);
    if (suspendedNanos >= MIN_SUSPENDED_NANOS) present.add(ActorProblem.RESTARTING);
    if (stayedFull || sinceLost < ActorProblem.RECENT_NANOS) present.add(ActorProblem.FULL);
    long failed = failures.events(stats.failed());
    boolean isFailing = failed >= MIN_FAILED
        && failed * 100 >= failures.others(stats.handled() + stats.failed()) * MIN_FAILED_PERCENT;
    if (isFailing) present.add(ActorProblem.FAILING);
    if (expirations.events(stats.expired()) >= MIN_EXPIRED) present.add(ActorProblem.EXPIRING);
    if (pauses.withoutPauses(stats.oldestWaiting()).compareTo(waitingLimit) >= 0) present.add(ActorProblem.BACKLOGGED);
    if (queue.isGrowing()) present.add(ActorProblem.GROWING);
    if (isBlocked) present.add(ActorProblem.BLOCKED);
    if (failures.isRecent() && !isFailing) present.add(ActorProblem.FAILED);
    return present.isEmpty() ? List.of() : present;
  }

  /**
   * Returns the trend with the problems of its snapshot.
   *
   * @param present the problems whose conditions are true
   */
  ActorTrend withProblems(List<ActorProblem> present, long elapsedNanos) {
    var next = problems.next(present, elapsedNanos, problem -> mayHold(problem, present));
    return next.equals(problems) ? this : new ActorTrend(handled, failed, lost, dropped, expired, rate, sinceHandled,
        failures, losses, sinceLost, expirations, noThreadNanos, suspendedNanos, isFull, stayedFull, queue, queued,
        growth, next);
  }

  /**
   * Returns whether the event with which a problem began is less than a minute old. A wait is
   * either the one or the other of two problems.
   */
  private boolean mayHold(ActorProblem problem, List<ActorProblem> present) {
    return switch (problem) {
      case STUCK -> !present.contains(ActorProblem.BLOCKED);
      case BLOCKED -> !present.contains(ActorProblem.STUCK);
      case FAILING -> failures.isRecent();
      case FULL -> sinceLost < ActorProblem.RECENT_NANOS || sinceLost == LONG_AGO; // it was only full, and lost nothing
      default -> true;
    };
  }

  /**
   * Returns how many messages have failed recently. Returns 0 if none has failed in the last
   * minute.
   */
  long recentFailures() {
    return failures.events(failed);
  }

  /** Returns how many accepted messages were dropped recently. */
  long droppedRecently() {
    return losses.others(dropped);
  }

  /** Returns how many messages were refused recently. */
  long refusedRecently() {
    return losses.events(lost) - droppedRecently();
  }

  /** Returns how many requests have expired recently. */
  long expiredRecently() {
    return expirations.events(expired);
  }

  /** Returns how many more messages wait now than at the start of the recent growth. */
  long grewRecently() {
    return growth.others(queued);
  }

  /** Returns the messages handled per second; NaN if the rate is not known yet. */
  double perSecond() {
    return rate.perSecond(handled);
  }

  /** Returns the rate of a count in a time; NaN if the time is too short. */
  static double perSecond(long count, long nanos) {
    return nanos < MIN_RATE_NANOS ? Double.NaN : count / (nanos / 1e9);
  }

  /**
   * Returns the time since an event. After a pause of a minute or more, as of a stopped process, an
   * event of the pause may be that old.
   */
  static long since(boolean hasHappened, long before, long elapsedNanos) {
    return hasHappened && elapsedNanos < ActorProblem.RECENT_NANOS ? 0
        : Math.min(LONG_AGO, hasHappened ? elapsedNanos : before + elapsedNanos);
  }

  private static boolean isFull(ActorStats stats) {
    return stats.capacity().isPresent() && stats.queued() >= stats.capacity().getAsInt();
  }

  private static boolean isSuspended(ActorStats stats) {
    return stats.state() == ActorState.SUSPENDED;
  }

  private static long lost(ActorStats stats) {
    return stats.refused() + stats.dropped();
  }

  /** Returns whether the actor waits for a thread. */
  static boolean lacksThread(ActorStats stats) {
    return stats.state() == ActorState.READY;
  }

  /** Returns whether this trend differs from the trend of an actor that has done nothing. */
  boolean isWorthKeeping() {
    return handled > 0 || failed > 0 || lost > 0 || expired > 0 || noThreadNanos > 0 || queue != QueueTrend.EMPTY
        || !problems.isEmpty();
  }
}
