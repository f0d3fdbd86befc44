package io.fibry.engine.cell;

import io.fibry.FailurePolicy;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.time.Scheduler;

/**
 * The state of an actor that failed, or that is restarted because of another actor's failure: its
 * restarts, its redeliveries and its suspension. The suspension is guarded by this object.
 */
final class Recovery {
  private RestartBudget restarts; // null until first needed; used by the drain only
  private volatile Object redeliveredNode; // the queue's node that was redelivered last, or null; written by the drain
  private int redeliveries; // how often redeliveredNode was redelivered; used by the drain only
  volatile long requestedPause; // ns before the restart; set by the actor whose failure causes the restart
  private volatile int restartCount; // written under the monitor of this object, read by observers
  private Suspension suspension; // holds the right to run during a suspension; null otherwise

  /** The right to run of an actor that waits for the end of a backoff. */
  static final class Suspension {
    final Object node; // the node at which the drain continues
    private volatile Scheduler.Timer timer; // null until it is set
    // whether a thread has taken the right to run. `endBy` writes `timer` and then reads this
    // field; `end` writes this field and then reads `timer`. So at least one of them cancels the
    // timer
    private volatile boolean ended;

    Suspension(Object node) {
      this.node = node;
    }

    /** Sets the timer that ends the suspension, or cancels it if the suspension has ended. */
    void endBy(Scheduler.Timer backoffTimer) {
      timer = backoffTimer;
      if (ended) backoffTimer.cancel();
    }

    /**
     * Called when a thread has taken the right to run. Cancels the timer, which would keep the
     * actor in memory. The caller calls this method last, because the scheduler may be user code.
     */
    void end() {
      ended = true;
      var backoffTimer = timer;
      try {
        if (backoffTimer != null) backoffTimer.cancel();
      } catch (Throwable failure) { // if the timer fires, it finds no right to take
        EngineLog.log().error("the timer of a backoff could not be cancelled", failure);
      }
    }
  }

  /** Counts a restart, as {@link RestartBudget#countRestart} does. */
  long countRestart(FailurePolicy policy, Scheduler clock) {
    if (restarts == null) restarts = new RestartBudget();
    return restarts.countRestart(policy, clock);
  }

  /** Counts a restart that has happened. Workers of a pool may do so at the same time. */
  synchronized void addRestart() {
    restartCount++;
  }

  int restartCount() {
    return restartCount;
  }

  /**
   * Counts a redelivery of the node, and returns how often the node has been redelivered. Returns 0
   * if the node has already been redelivered {@code max} times.
   */
  int countRedelivery(Object node, int max) {
    if (redeliveredNode != node) redeliveries = 0;
    redeliveredNode = redeliveries < max ? node : null;
    return redeliveredNode == null ? redeliveries = 0 : ++redeliveries;
  }

  boolean isRedelivery(Object node) {
    return redeliveredNode == node;
  }

  synchronized void suspend(Suspension newSuspension) {
    suspension = newSuspension;
  }

  /**
   * Takes the right to run out of the suspension: only the first caller gets the right, others get
   * null. It only assigns fields, so it cannot throw an error, which would lose the right.
   */
  synchronized Suspension resume() {
    var endedSuspension = suspension;
    suspension = null;
    return endedSuspension;
  }

  synchronized Object suspendedNode() {
    return suspension == null ? null : suspension.node;
  }

  /** Returns whether the actor is suspended and the timer that ends its suspension is set. */
  synchronized boolean isSuspended() {
    return suspension != null && suspension.timer != null;
  }
}
