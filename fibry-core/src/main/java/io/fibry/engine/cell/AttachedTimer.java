package io.fibry.engine.cell;

import io.fibry.engine.timer.TimerNode;
import io.fibry.time.Scheduler;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/** A timer that ends with its actor. */
public abstract class AttachedTimer extends TimerNode implements Scheduler.Timer {
  // The links of ActorTimers, which says why they are right; written by any thread
  AttachedTimer older;
  private AttachedTimer newer;
  private boolean isRemoved; // false -> true, before the actor forgets the timer

  protected AttachedTimer(long dueAt) {
    super(dueAt);
  }

  /** Returns null if the timer has no key. */
  protected Object key() {
    return null;
  }

  /** Returns whether this timer was set after the other timer, which has an equal key. */
  protected abstract boolean isAfter(AttachedTimer other);

  /**
   * Marks the timer as removed from the timers of its actor, before or after it was added. A thread
   * that sees the mark also sees the effects of the caller until then, such as the sent message.
   */
  final void markRemoved() {
    VarHandle.releaseFence(); // a volatile write would take as long as an atomic operation
    isRemoved = true;
  }

  /** Sets the link to a newer timer. A thread that sees it also sees that this timer was added. */
  final void setNewer(AttachedTimer timer) {
    VarHandle.releaseFence();
    newer = timer;
  }

  final AttachedTimer newer() {
    var timer = newer;
    VarHandle.acquireFence();
    return timer;
  }

  final boolean isRemoved() {
    boolean value = isRemoved;
    VarHandle.acquireFence();
    return value;
  }

  protected abstract boolean isDue(long now);

  /**
   * Cancels the timer at the end of its actor. Returns the message that will never be sent, or an
   * empty result if no user loses a message.
   */
  protected abstract Optional<Object> cancelAtEnd();
}
