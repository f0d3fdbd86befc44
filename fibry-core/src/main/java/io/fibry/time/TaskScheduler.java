package io.fibry.time;

import io.fibry.text.Durations;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/** A scheduler of {@link ScheduledTask}s. */
abstract class TaskScheduler implements Scheduler {
  private static final long MAX_DELAY = Long.MAX_VALUE / 2;

  /** The period is {@link ScheduledTask}'s. */
  abstract Timer start(Runnable task, long delay, long period);

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return start(task, delay(delay, "delay"), 0);
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
    return start(task, delay(initial, "initial"), period(period, "period"));
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
    return start(task, delay(initial, "initial"), -period(delay, "delay"));
  }

  static long delay(Duration delay, String name) {
    if (Objects.requireNonNull(delay, name).isNegative())
      throw new IllegalArgumentException(
          "a delay of " + Durations.text(delay) + " lies in the past; give zero or more");
    return nanos(delay);
  }

  private static long period(Duration period, String name) {
    if (!Objects.requireNonNull(period, name).isPositive())
      throw new IllegalArgumentException("a period of " + Durations.text(period) + " never ends; give more than zero");
    return nanos(period);
  }

  private static long nanos(Duration duration) {
    return Math.min(MAX_DELAY, TimeUnit.NANOSECONDS.convert(duration));
  }

  /** A task of a clock. */
  abstract static class ScheduledTask implements Timer, Runnable {
    private static final VarHandle OPEN = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "open",
        VarHandle.class, ScheduledTask.class, boolean.class);

    private final Scheduler clock;
    // null once done, since queues may keep this; written by `run` and `cancel`
    private Runnable task;
    // above 0 between starts, below 0 between ends and starts; 0 for a single run
    private final long period;
    long at; // when it is due; written before it is queued
    // true -> false, by `cancel` or the only run
    private volatile boolean open = true;

    ScheduledTask(Scheduler clock, Runnable task, long delay, long period) {
      this.clock = clock;
      this.task = task;
      this.period = period;
      this.at = clock.nanoTime() + delay;
    }

    abstract void enqueue();

    abstract void dequeue();

    final boolean open() {
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
        LoggerFactory.getLogger(Scheduler.class).error("a timer's task failed{}",
            period == 0 ? "" : "; it will run again", failure);
      }
      if (period == 0 || !open) return;
      long now = clock.nanoTime();
      at = period < 0 ? now - period : at + Math.max(1, Math.ceilDiv(now - at, period)) * period;
      enqueue();
      if (!open) dequeue(); // cancelled before it was queued
    }

    @Override
    public final boolean cancel() {
      boolean was = OPEN.compareAndSet(this, true, false);
      if (was) {
        task = null;
        dequeue();
      }
      return was;
    }
  }
}
