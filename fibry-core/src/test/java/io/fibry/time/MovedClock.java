package io.fibry.time;

import io.fibry.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/** A user's clock that moves once just before a timer is set, after its delay was computed. */
final class MovedClock extends Clock {
  private final AtomicReference<Duration> move = new AtomicReference<>();

  void moveBeforeNextTimer(Duration by) {
    move.set(by);
  }

  boolean hasMoved() {
    return move.get() == null;
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var by = move.getAndSet(null);
    if (by != null) manual.advance(by);
    return super.schedule(delay, task);
  }
}
