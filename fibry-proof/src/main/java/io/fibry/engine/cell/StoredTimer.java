package io.fibry.engine.cell;

import java.util.Optional;

/** A timer that only lies in the list of an actor's timers. */
final class StoredTimer extends AttachedTimer {
  StoredTimer() {
    super(0);
  }

  @Override
  protected void fire() {}

  @Override
  protected boolean isAfter(AttachedTimer other) {
    return false;
  }

  @Override
  protected boolean isDue(long now) {
    return false;
  }

  @Override
  protected Optional<Object> cancelAtEnd() {
    return Optional.empty();
  }

  @Override
  public boolean cancel() {
    return false;
  }

  /** Ends the list, and returns whether this timer was in it, and was not removed. */
  static boolean[] endOf(ActorTimers timers, AttachedTimer... expected) {
    var found = new boolean[expected.length];
    for (var timer = timers.end(); timer != null; timer = timer.older)
      for (int i = 0; i < expected.length; i++) found[i] |= timer == expected[i] && !timer.isRemoved();
    return found;
  }
}
