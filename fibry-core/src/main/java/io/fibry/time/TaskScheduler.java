package io.fibry.time;

import io.fibry.engine.timer.TimerNode;
import io.fibry.text.Durations;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Base class of the library's schedulers: checks durations, and starts {@link ScheduledTask}s. */
abstract class TaskScheduler implements Scheduler {
  static final long MAX_DELAY = Long.MAX_VALUE / 2; // ns

  /**
   * Starts a timer.
   *
   * @param delay the time before the first run, in ns
   * @param period 0 for a single run. Above 0, the ns between two starts. Below 0, minus the ns
   * between the end of a run and the next start
   */
  abstract Timer start(Runnable task, long delay, long period);

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return start(task, checkedDelay(delay, "delay"), 0);
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
    return start(task, checkedDelay(initial, "initial"), checkedPeriod(period, "period"));
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
    return start(task, checkedDelay(initial, "initial"), -checkedPeriod(delay, "delay"));
  }

  static long checkedDelay(Duration delay, String name) {
    return nanos(Durations.requireNotNegative(delay, name, "a delay"));
  }

  private static long checkedPeriod(Duration period, String name) {
    if (!Objects.requireNonNull(period, name).isPositive())
      throw new IllegalArgumentException(
          "a period of " + Durations.text(period) + " is not positive; give more than zero");
    return nanos(period);
  }

  private static long nanos(Duration duration) {
    return Math.min(MAX_DELAY, TimeUnit.NANOSECONDS.convert(duration));
  }

  /** A task that a clock runs once or repeatedly. */
  abstract static class ScheduledTask extends TimerNode implements Timer {
    // Null after the only run or a cancel, because a queue may keep this object for longer. Written
    // by `fire` and `cancel`.
    private Runnable task;
    // 0 for a single run. Above 0, the ns between two starts. Below 0, minus the ns between the end
    // of a run and the next start.
    private final long period;

    ScheduledTask(Runnable task, long dueAt, long period) {
      super(dueAt);
      this.task = task;
      this.period = period;
    }

    abstract TaskScheduler clock();

    /** Ends a run, and adds this task to the queue of its scheduler, unless it is cancelled. */
    abstract void startAgain();

    /** Cancels this task in its scheduler. Returns false if it was closed before. */
    abstract boolean cancelInQueue();

    @Override
    protected final void fire() {
      var code = task;
      if (code == null || (period == 0 ? !close() : !beginRun())) return;
      if (period == 0) task = null;
      try {
        code.run();
      } catch (Throwable failure) {
        SafeLogger.of(Scheduler.class).error("a timer's task failed{}",
            period == 0 ? "" : "; it will run again", failure);
      } finally { // also if the logging fails, because memory is exhausted
        if (period != 0) repeat();
      }
    }

    private void repeat() {
      long now = clock().nanoTime();
      dueAt = period < 0 ? now - period : dueAt + Math.max(1, Math.ceilDiv(now - dueAt, period)) * period;
      startAgain();
    }

    @Override
    public final boolean cancel() {
      boolean wasOpen = cancelInQueue();
      if (wasOpen) task = null;
      return wasOpen;
    }
  }
}
