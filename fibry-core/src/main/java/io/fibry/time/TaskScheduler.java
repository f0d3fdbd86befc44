package io.fibry.time;

import java.time.Duration;

/** A scheduler of {@link ScheduledTask}s. */
abstract class TaskScheduler implements Scheduler {

  /** The period is {@link ScheduledTask}'s. */
  abstract Timer start(Runnable task, long delay, long period);

  @Override
  public Timer after(Duration delay, Runnable task) {
    return start(task, ScheduledTask.delay(delay), 0);
  }

  @Override
  public Timer atFixedRate(Duration initial, Duration period, Runnable task) {
    return start(task, ScheduledTask.delay(initial), ScheduledTask.period(period));
  }

  @Override
  public Timer withFixedDelay(Duration initial, Duration delay, Runnable task) {
    return start(task, ScheduledTask.delay(initial), -ScheduledTask.period(delay));
  }
}
