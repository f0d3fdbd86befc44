package io.fibry.dashboard;

import java.time.Duration;
import java.util.Locale;

/** A state of an actor that an operator should see first. The most urgent problem is the first. */
enum ActorProblem implements HeldProblems.Problem {
  /** The actor was cut off, and its handler still runs. */
  CUT_OFF,
  /**
   * The handler has been busy with one message for the handling limit or longer, and is not
   * {@link #BLOCKED}.
   */
  STUCK,
  /** The actor has messages, and has waited for a thread for the handling limit or longer. */
  WITHOUT_THREAD,
  /** The actor has been suspended after a failure for three seconds or longer. */
  RESTARTING,
  /** The mailbox is full, or has refused or dropped messages within the last minute. */
  FULL,
  /**
   * The handler has failed within the last minute, and with at least two and at least 1 % of the
   * messages of the last 60 to 70 seconds.
   */
  FAILING,
  /**
   * A request has expired in the mailbox within the last minute, and at least two in the last 60 to
   * 70 seconds.
   */
  EXPIRING,
  /** The oldest message has waited for the waiting limit or longer. */
  BACKLOGGED,
  /** The number of waiting messages keeps growing, or is too high to be counted. */
  GROWING,
  /**
   * The handler has been busy for the handling limit or longer, because it waits for another
   * actor, which is stalled. The other actor is the cause, so this problem is not urgent.
   */
  BLOCKED,
  /**
   * The handler has failed within the last minute, but the actor is not failing. The last, because
   * a single failure among many messages is no outage.
   */
  FAILED;

  static final long RECENT_NANOS = Duration.ofMinutes(1).toNanos();

  /** Returns whether the problem is an alarm. */
  boolean isUrgent() {
    return this != BLOCKED && this != FAILED;
  }

  @Override
  public boolean isState() {
    // the others are seen by counts of some time, so the page does not know the moment of their end
    return this != FULL && this != FAILING && this != EXPIRING && this != GROWING && this != FAILED;
  }

  /**
   * Returns a minute for a share of failures, which varies around its limit, and no time for a
   * single failure, because it is already shown for a minute.
   */
  @Override
  public long holdNanos() {
    return this == FAILED ? 0 : this == FAILING ? RECENT_NANOS : HeldProblems.HOLD_NANOS;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
