package io.fibry.dashboard;

import java.util.Locale;

/** A state of a route that an operator should see first. The most urgent problem is the first. */
enum RouteProblem implements HeldProblems.Problem {
  /** A handler has been at work on an exchange for the handling limit or longer. */
  STUCK,
  /** At least 1 % of the recent responses had a status of 500 or above, except 503 and 504. */
  FAILING,
  /** At least 1 % of the recent responses had the status 504. */
  TIMING_OUT,
  /** At least 1 % of the recent responses had the status 503. */
  UNAVAILABLE,
  /**
   * At least 1 % of the recent successes (a status of 200 to 299), and at least two, took longer
   * than the slow limit. Or the route was stuck within the last minute.
   */
  SLOW;

  @Override
  public boolean isState() {
    return this == STUCK; // the others are events of the last minute
  }

  /** Returns a longer time for problems of a share, which varies around its limit. */
  @Override
  public long holdNanos() {
    return this == STUCK ? HeldProblems.HOLD_NANOS : ActorProblem.RECENT_NANOS;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
