package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A state of an actor that an operator should see first. The most urgent problem is the first. */
enum ActorProblem {
  /** The actor was cut off, and its handler still runs. */
  CUT_OFF,
  /** The handler has been busy with one message for the handling limit or longer. */
  STUCK,
  /** The actor has messages, and has waited for a thread for the handling limit or longer. */
  WITHOUT_THREAD,
  /** The actor is suspended after a failure, until it restarts. */
  RESTARTING,
  /** The mailbox is full, or has refused messages within the last minute. */
  FULL,
  /** The handler has failed within the last minute. */
  FAILING,
  /** The oldest message has waited for the waiting limit or longer. */
  BACKLOGGED,
  /** The number of waiting messages keeps growing, or is too high to be counted. */
  GROWING;

  private static final long RECENT_NANOS = Duration.ofMinutes(1).toNanos();

  /** Returns the problems of an actor, the most urgent first. */
  static List<ActorProblem> of(ActorStats stats, ActorTrend trend, Duration handlingLimit, Duration waitingLimit) {
    var problems = new ArrayList<ActorProblem>(0);
    if (stats.state() == ActorState.CUT_OFF) problems.add(CUT_OFF);
    if (stats.busyFor().compareTo(handlingLimit) >= 0) problems.add(STUCK);
    if (trend.noThreadNanos() >= Durations.nanos(handlingLimit)) problems.add(WITHOUT_THREAD);
    if (stats.state() == ActorState.SUSPENDED) problems.add(RESTARTING);
    if (trend.stayedFull() || trend.sinceRefused() < RECENT_NANOS) problems.add(FULL);
    if (trend.sinceFailed() < RECENT_NANOS) problems.add(FAILING);
    if (stats.oldestWaiting().compareTo(waitingLimit) >= 0) problems.add(BACKLOGGED);
    if (trend.queue().isGrowing()) problems.add(GROWING);
    return problems.isEmpty() ? List.of() : problems;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
