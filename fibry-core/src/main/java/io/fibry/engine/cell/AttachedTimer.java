package io.fibry.engine.cell;

import io.fibry.time.Scheduler;
import java.util.Optional;

/** A timer that ends with its actor. */
public abstract class AttachedTimer implements Scheduler.Timer {
  // Null if the timer has no key; lists of timers are guarded by the actor's extras
  protected final Object key;
  AttachedTimer before;
  AttachedTimer after;

  protected AttachedTimer(Object key) {
    this.key = key;
  }

  /** Compares two timers with equal keys. */
  protected abstract boolean isAfter(AttachedTimer other);

  protected abstract boolean hasRun();

  protected abstract boolean isDue(long now);

  /**
   * Cancels it. Returns the message that will never be sent, unless it is no loss for any user.
   */
  protected abstract Optional<Object> end();
}
