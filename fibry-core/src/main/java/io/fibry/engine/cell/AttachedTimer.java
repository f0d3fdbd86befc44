package io.fibry.engine.cell;

import io.fibry.engine.timer.TimerNode;
import io.fibry.time.Scheduler;
import java.util.Optional;

/** A timer that ends with its actor. */
public abstract class AttachedTimer extends TimerNode implements Scheduler.Timer {
  // The neighbors in ActorTimers; guarded by the actor's extras
  AttachedTimer previous;
  AttachedTimer next;

  protected AttachedTimer(long dueAt) {
    super(dueAt);
  }

  /** Returns null if the timer has no key. */
  protected Object key() {
    return null;
  }

  /** Returns whether this timer was set after the other timer, which has an equal key. */
  protected abstract boolean isAfter(AttachedTimer other);

  protected abstract boolean hasRun();

  protected abstract boolean isDue(long now);

  /**
   * Cancels the timer at the end of its actor. Returns the message that will never be sent, or an
   * empty result if no user loses a message.
   */
  protected abstract Optional<Object> cancelAtEnd();
}
