package io.fibry.dashboard;

import java.time.Duration;
import java.util.Locale;

/** A state of an actor that an operator should see first. The most urgent problem is the first. */
enum ActorProblem implements HeldProblems.Problem {
  /** The actor was cut off, and its handler still runs. */
  CUT_OFF,
  /** The handler has been busy with one message for the handling limit or longer. */
  STUCK,
  /** The actor has messages, and has waited for a thread for the handling limit or longer. */
  WITHOUT_THREAD,
  /** The actor has been suspended after a failure for three seconds or longer. */
  RESTARTING,
  /** The mailbox is full, or has refused or dropped messages within the last minute. */
  FULL,
  /** The handler has failed within the last minute. */
  FAILING,
  /** The oldest message has waited for the waiting limit or longer. */
  BACKLOGGED,
  /** The number of waiting messages keeps growing, or is too high to be counted. */
  GROWING;

  static final long RECENT_NANOS = Duration.ofMinutes(1).toNanos();

  @Override
  public boolean isState() {
    return this != FULL && this != FAILING; // these begin with an event, and last for a minute
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
