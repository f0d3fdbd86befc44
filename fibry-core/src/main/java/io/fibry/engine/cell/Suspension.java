package io.fibry.engine.cell;

import io.fibry.engine.jvm.EngineLog;
import io.fibry.time.Scheduler;

/** The right to run of an actor that waits for the end of a back-off. */
final class Suspension {
  final Object node; // the node at which the drain continues
  volatile Scheduler.Timer timer; // null until it is set; written before `ended` is read
  private volatile boolean ended; // the right to run was taken; written before `timer` is read

  Suspension(Object node) {
    this.node = node;
  }

  /** Sets the timer that ends the suspension, or cancels it if the suspension has ended. */
  void endBy(Scheduler.Timer backoffTimer) {
    timer = backoffTimer;
    if (ended) backoffTimer.cancel();
  }

  /**
   * Called when the right to run has a thread. Cancels the timer, which would keep the actor in
   * memory. The caller calls this method last, because the scheduler may be user code.
   */
  void end() {
    ended = true;
    var backoffTimer = timer;
    try {
      if (backoffTimer != null) backoffTimer.cancel();
    } catch (Throwable failure) { // if the timer fires, it finds no right to take
      EngineLog.LOG.error("the timer of a back-off could not be cancelled", failure);
    }
  }
}
