package io.fibry.testing;

import io.fibry.support.Logged;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * A scheduler that delegates to another scheduler, as a user may write it. Tests override its
 * methods.
 */
public class Clock implements Scheduler {
  public final ManualScheduler manual = new ManualScheduler();
  private final Scheduler scheduler;

  /** Creates a clock whose time changes only when {@code manual} is advanced. */
  public Clock() {
    this.scheduler = manual;
  }

  public Clock(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Returns the lines that are logged while the clock advances. */
  public String logged(Duration duration) {
    try (var logged = new Logged()) {
      manual.advance(duration);
      return logged.text();
    }
  }

  @Override
  public long nanoTime() {
    return scheduler.nanoTime();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return scheduler.schedule(delay, task);
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
    return scheduler.scheduleAtFixedRate(initial, period, task);
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
    return scheduler.scheduleWithFixedDelay(initial, delay, task);
  }
}
