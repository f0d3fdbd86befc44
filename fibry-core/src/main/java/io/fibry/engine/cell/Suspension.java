package io.fibry.engine.cell;

import io.fibry.engine.jvm.EngineLog;
import io.fibry.time.Scheduler;

/** The right to run, while its actor waits for a restart. */
final class Suspension {
  final Object node; // the node at which the drain continues
  volatile Scheduler.Timer timer; // null until it is set; written before `over` is read
  private volatile boolean over; // the right was taken up; written before `timer` is read

  Suspension(Object node) {
    this.node = node;
  }

  void endBy(Scheduler.Timer due) {
    timer = due;
    if (over) due.cancel();
  }

  /**
   * The right has its thread. A timer left running would keep the actor alive; cancelling it comes
   * last, because it may be the user's.
   */
  void end() {
    over = true;
    var due = timer;
    try {
      if (due != null) due.cancel();
    } catch (Throwable failure) { // it finds nothing to take up
      EngineLog.LOG.error("the timer of a back-off could not be cancelled", failure);
    }
  }
}
