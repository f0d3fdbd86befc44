package io.fibry.engine.cell;

import io.fibry.time.Scheduler;
import java.util.Optional;

/** A timer that ends with its actor. */
public abstract class AttachedTimer implements Scheduler.Timer {
  protected final Object key; // null: none
  // in a list; guarded by the actor's extras
  AttachedTimer before;
  AttachedTimer after;

  protected AttachedTimer(Object key) {
    this.key = key;
  }

  /** Of two with a key. */
  protected abstract boolean isAfter(AttachedTimer other);

  protected abstract boolean hasRun();

  protected abstract boolean isDue(long now);

  /** Cancels it. Answers the message that is now never sent, unless it is nobody's loss. */
  protected abstract Optional<Object> end();
}
