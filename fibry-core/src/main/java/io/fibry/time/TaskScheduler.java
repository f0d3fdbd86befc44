package io.fibry.time;

import io.fibry.text.Durations;
import io.fibry.text.SafeLogger;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
  abstract static class ScheduledTask implements Timer, Runnable {
    private static final VarHandle OPEN = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "open",
        VarHandle.class, ScheduledTask.class, boolean.class);

    private final Scheduler clock;
    // Null after the only run or a cancel, because a queue may keep this object for longer. Written
    // by `run` and `cancel`.
    private Runnable task;
    // 0 for a single run. Above 0, the ns between two starts. Below 0, minus the ns between the end
    // of a run and the next start.
    private final long period;
    long dueAt; // when the task is due, in ns by the clock; written before the task is queued
    private volatile boolean open = true; // true -> false, by `cancel` or by the start of the only run

    ScheduledTask(Scheduler clock, Runnable task, long dueAt, long period) {
      this.clock = clock;
      this.task = task;
      this.period = period;
      this.dueAt = dueAt;
    }

    /** Adds this task to the queue of its scheduler. */
    abstract void enqueue();

    /** Makes the scheduler remove this task from its queue, after a cancel. */
    abstract void dequeue();

    final boolean isOpen() {
      return open;
    }

    @Override
    public final void run() {
      var code = task;
      if (code == null || (period == 0 ? !OPEN.compareAndSet(this, true, false) : !open)) return;
      if (period == 0) task = null;
      try {
        code.run();
      } catch (Throwable failure) {
        SafeLogger.of(Scheduler.class).error("a timer's task failed{}",
            period == 0 ? "" : "; it will run again", failure);
      }
      if (period == 0 || !open) return;
      long now = clock.nanoTime();
      dueAt = period < 0 ? now - period : dueAt + Math.max(1, Math.ceilDiv(now - dueAt, period)) * period;
      enqueue();
      if (!open) dequeue(); // this task may have been cancelled before it was queued
    }

    @Override
    public final boolean cancel() {
      boolean wasOpen = OPEN.compareAndSet(this, true, false);
      if (wasOpen) {
        task = null;
        dequeue();
      }
      return wasOpen;
    }
  }
}
