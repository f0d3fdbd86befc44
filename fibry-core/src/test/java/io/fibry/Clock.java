package io.fibry;

import io.fibry.support.Logged;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;

/** A user's scheduler, for tests to change. */
public class Clock implements Scheduler {
  public final ManualScheduler manual = new ManualScheduler();
  private final Scheduler time;

  /** Time is stopped until {@code manual} is moved. */
  public Clock() {
    this.time = manual;
  }

  Clock(Scheduler time) {
    this.time = time;
  }

  /** Returns the lines that are logged while the clock moves. */
  public String logged(Duration by) {
    try (var logged = new Logged()) {
      manual.advance(by);
      return logged.text();
    }
  }

  @Override
  public long nanoTime() {
    return time.nanoTime();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return time.schedule(delay, task);
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
    return time.scheduleAtFixedRate(initial, period, task);
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
    return time.scheduleWithFixedDelay(initial, delay, task);
  }
}
