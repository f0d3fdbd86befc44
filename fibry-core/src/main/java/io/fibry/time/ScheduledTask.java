package io.fibry.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.slf4j.LoggerFactory;

/** A task, when it is due, and how it comes again: what both clocks have in common. */
abstract class ScheduledTask implements Scheduler.Timer, Runnable {
  private static final long LONGEST = Long.MAX_VALUE / 2;
  private static final VarHandle OPEN;

  static {
    try {
      OPEN = MethodHandles.lookup().findVarHandle(ScheduledTask.class, "open", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final Scheduler clock;
  // null once it will not run again: what lingers in a queue keeps nothing. Written by who runs or
  // cancels it
  private Runnable task;
  // > 0: between beginnings; < 0: between an end and the next beginning; 0: once
  private final long period;
  long at; // when it is due; written before it is queued, read by whoever runs it
  // true -> false, once: by `cancel`, or by the one run of a task that does not repeat
  private volatile boolean open = true;

  ScheduledTask(Scheduler clock, Runnable task, long delay, long period) {
    this.clock = clock;
    this.task = task;
    this.period = period;
    this.at = clock.nanoTime() + delay;
  }

  /** Puts it into the queue of its clock, for the time {@code at}. */
  abstract void enqueue();

  /** Takes it out of the queue, if it is there. */
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
    if (!open) dequeue(); // cancelled between the look and the queue
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

  static long delay(Duration delay) {
    if (delay.isNegative())
      throw new IllegalArgumentException("a delay of " + delay + " lies in the past; give zero or more");
    return nanos(delay);
  }

  static long period(Duration period) {
    if (!period.isPositive())
      throw new IllegalArgumentException("a period of " + period + " never ends; give more than zero");
    return nanos(period);
  }

  private static long nanos(Duration duration) {
    return duration.compareTo(Duration.ofNanos(LONGEST)) < 0 ? duration.toNanos() : LONGEST;
  }
}
