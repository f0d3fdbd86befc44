package io.fibry.engine.message;

import io.fibry.time.Scheduler;
import java.time.Duration;

/** A clock that stands at zero, and records whether the only timer of a test is set. */
class OneTimer implements Scheduler, Scheduler.Timer {
  volatile boolean isArmed; // written by the threads that set and cancel the timer, read at the end

  @Override
  public long nanoTime() {
    return 0;
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    isArmed = true;
    return this;
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean cancel() {
    isArmed = false;
    return true;
  }
}
