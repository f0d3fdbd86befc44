package io.fibry.dashboard;

import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A manual clock that can also move its time without running a task, as a stopped process does. */
final class StoppableClock implements Scheduler {
  private final ManualScheduler tasks = new ManualScheduler();
  private final AtomicLong stopped = new AtomicLong(); // nanoseconds of all stops

  void advance(Duration time) {
    tasks.advance(time);
  }

  boolean hasTasks() {
    return tasks.untilNext().isPresent();
  }

  /** Moves the time; tasks that were due in it are still due. */
  void stop(Duration time) {
    stopped.addAndGet(time.toNanos());
  }

  @Override
  public long nanoTime() {
    return tasks.nanoTime() + stopped.get();
  }

  @Override
  public boolean isManual() {
    return true;
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return tasks.schedule(delay, task);
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
    return tasks.scheduleAtFixedRate(initial, period, task);
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
    return tasks.scheduleWithFixedDelay(initial, delay, task);
  }
}
