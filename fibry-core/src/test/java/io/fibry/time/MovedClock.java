package io.fibry.time;

import io.fibry.testing.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A user-defined clock. On demand, it advances once between the moment when a delay is computed and
 * the moment when its timer is set.
 */
final class MovedClock extends Clock {
  private final AtomicReference<Duration> pendingMove = new AtomicReference<>();

  void moveBeforeNextTimer(Duration distance) {
    pendingMove.set(distance);
  }

  boolean hasMoved() {
    return pendingMove.get() == null;
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var distance = pendingMove.getAndSet(null);
    if (distance != null) manual.advance(distance);
    return super.schedule(delay, task);
  }
}
