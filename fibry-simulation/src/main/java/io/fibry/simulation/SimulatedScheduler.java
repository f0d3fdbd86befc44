package io.fibry.simulation;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** The clock of a run, for its scopes. Each task has its own thread, which others may overtake. */
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
  public Timer schedule(Duration delay, Runnable task) {
    return start(delay, null, false, task);
  }

  @Override
  public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
    return start(initial, Objects.requireNonNull(period, "period"), true, task);
  }

  @Override
  public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
    return start(initial, Objects.requireNonNull(delay, "delay"), false, task);
  }

  private Timer start(Duration delay, @Nullable Duration period, boolean rate, Runnable task) {
    if (delay.isNegative()) throw new IllegalArgumentException("a delay of " + delay + " is negative");
    if (period != null && !period.isPositive())
      throw new IllegalArgumentException("a period of " + period + " is not positive");
    return new SimulatedTimer(SimulatedClock.nanos(delay), period == null ? 0 : SimulatedClock.nanos(period), rate,
        Objects.requireNonNull(task, "task"));
  }

  /** Used by simulated threads and their carrier, so by one at a time. */
  private final class SimulatedTimer implements Timer, Runnable {
    private final long period; // 0: once
    private final boolean rate;
    private final Runnable task;
    private final FailureDomain domain = run.currentDomain();
    private long due;
    private boolean open = true;
    private Future<?> timer;

    SimulatedTimer(long delay, long period, boolean rate, Runnable task) {
      this.period = period;
      this.rate = rate;
      this.task = task;
      this.due = run.clock.now() + delay;
      this.timer = run.clock.schedule(this, delay, domain);
    }

    /** On the carrier, which must not wait. */
    @Override
    public void run() {
      if (!open) return;
      if (period == 0) open = false;
      run.start("timer", domain, this::work);
    }

    private void work() {
      try {
        task.run();
      } catch (Throwable thrown) {
        LoggerFactory.getLogger(Scheduler.class).error("a timer's task failed", thrown);
      }
      if (!open) return;
      long now = run.clock.now();
      due = rate ? due + Math.max(1, Math.ceilDiv(now - due, period)) * period : now + period;
      timer = run.clock.schedule(this, due - now, domain);
    }

    @Override
    public boolean cancel() {
      boolean was = open;
      open = false;
      timer.cancel(false);
      return was;
    }
  }
}
