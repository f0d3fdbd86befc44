package io.fibry.engine.cell;

import io.fibry.engine.scope.Scope;
import io.fibry.time.Scheduler;

/**
 * The right to run, laid down in {@link Extras} until it is taken up again, and the timer that sees
 * to that.
 */
public final class Suspension {
  public final Object node; // where to go on
  // null: not yet set; written by who rests, before it looks at `over`
  public volatile Scheduler.Timer timer;
  private volatile boolean over; // written by who took it up, before it looks at `timer`

  public Suspension(Object node) {
    this.node = node;
  }

  /** The timer that ends it, which may have ended before. */
  public void until(Scheduler.Timer due) {
    timer = due;
    if (over) due.cancel();
  }

  /**
   * The timer is not needed any more: else it would keep the actor. It may be the user's, so this
   * comes after the right has got its thread.
   */
  public void end() {
    over = true;
    var due = timer;
    try {
      if (due != null) due.cancel();
    } catch (Throwable failure) {
      // it will find nothing to wake
      Scope.LOG.error("the timer of a rest could not be cancelled", failure);
    }
  }
}
