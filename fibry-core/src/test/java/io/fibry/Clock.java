package io.fibry;

import io.fibry.time.ManualClock;
import io.fibry.time.Scheduler;
import java.time.Duration;

/** A user's scheduler, for tests to change. Time stands still until {@code manual} is moved. */
public class Clock implements Scheduler {
  public final ManualClock manual = new ManualClock();

  @Override
  public long nanoTime() {
    return manual.nanoTime();
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    return manual.after(delay, task);
  }

  @Override
  public Timer atFixedRate(Duration initial, Duration period, Runnable task) {
    return manual.atFixedRate(initial, period, task);
  }

  @Override
  public Timer withFixedDelay(Duration initial, Duration delay, Runnable task) {
    return manual.withFixedDelay(initial, delay, task);
  }
}
