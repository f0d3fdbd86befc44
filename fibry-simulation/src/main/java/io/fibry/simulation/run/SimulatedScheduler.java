package io.fibry.simulation.run;

import io.fibry.text.Durations;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler of the scopes of a run, with the run's clock. Each task gets a thread of its own,
 * so the order of tasks that are due together may change.
 */
final class SimulatedScheduler implements Scheduler {
  private final SimulationRun run;

  SimulatedScheduler(SimulationRun run) {
    this.run = run;
  }

  @Override
  public long nanoTime() {
    return run.clock.now();
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(run.currentTimeMillis());
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return start(delay, null, false, task);
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initialDelay, Duration period, Runnable task) {
    return start(initialDelay, Objects.requireNonNull(period, "period"), true, task);
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initialDelay, Duration delay, Runnable task) {
    return start(initialDelay, Objects.requireNonNull(delay, "delay"), false, task);
  }

  private Timer start(Duration delay, @Nullable Duration period, boolean isFixedRate, Runnable task) {
    if (delay.isNegative()) throw new IllegalArgumentException("a delay of " + Durations.text(delay) + " is negative");
    if (period != null && !period.isPositive())
      throw new IllegalArgumentException("a period of " + Durations.text(period) + " is not positive");
    return new SimulatedTimer(SimulatedClock.nanos(delay), period == null ? 0 : SimulatedClock.nanos(period),
        isFixedRate, Objects.requireNonNull(task, "task"));
  }

  /** Used by simulated threads and their carrier, so by one thread at a time. */
  private final class SimulatedTimer implements Timer, Runnable {
    private final long period; // ns; 0 if the task runs once
    private final boolean isFixedRate; // false: the next period begins when the task has ended
    private final Runnable task;
    private final FailureDomain domain = run.currentDomain();
    private long due; // ns by the run's clock
    private boolean isActive = true; // false: cancelled, or the single execution has begun
    private Future<?> timer;

    SimulatedTimer(long delay, long period, boolean isFixedRate, Runnable task) {
      this.period = period;
      this.isFixedRate = isFixedRate;
      this.task = task;
      this.due = run.clock.now() + delay;
      this.timer = run.clock.schedule(this, delay, domain);
    }

    /** Called on the carrier, which must not wait: starts a thread for the task. */
    @Override
    public void run() {
      if (!isActive) return;
      if (period == 0) isActive = false;
      run.start("timer", domain, this::work);
    }

    private void work() {
      try {
        task.run();
      } catch (Throwable thrown) {
        SafeLogger.of(Scheduler.class).error("a timer's task failed", thrown);
      }
      if (!isActive) return;
      long now = run.clock.now();
      due = isFixedRate ? due + Math.max(1, Math.ceilDiv(now - due, period)) * period : now + period;
      timer = run.clock.schedule(this, due - now, domain);
    }

    @Override
    public boolean cancel() {
      boolean wasActive = isActive;
      isActive = false;
      timer.cancel(false);
      return wasActive;
    }
  }
}
