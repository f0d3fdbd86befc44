package io.fibry.cluster;

import io.fibry.time.ManualClock;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * The clock of a node that may stand still: what is due then runs when it goes on. Thread-safe.
 */
record SeededClock(ManualClock clock, LongSupplier stillUntil) implements Scheduler {

  /** May be put off once more. */
  private final class Late implements Timer {
    private final Runnable task;
    private final AtomicReference<Timer> now = new AtomicReference<>();
    private volatile boolean cancelled;

    Late(Runnable task) {
      this.task = task;
    }

    void run() {
      long left = stillUntil.getAsLong() - clock.nanoTime();
      if (cancelled) return;
      if (left <= 0) task.run();
      else now.set(clock.after(Duration.ofNanos(left), this::run));
    }

    @Override
    public boolean cancel() {
      cancelled = true;
      return now.get().cancel();
    }
  }

  @Override
  public long nanoTime() {
    return clock.nanoTime();
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    var late = new Late(task);
    late.now.set(clock.after(delay, late::run));
    return late;
  }

  /** What a node that stands still would have done meanwhile, it does once. */
  private Runnable unlessStill(Runnable task) {
    return () -> {
      if (stillUntil.getAsLong() - clock.nanoTime() <= 0) task.run();
    };
  }

  @Override
  public Timer atFixedRate(Duration initial, Duration period, Runnable task) {
    return clock.atFixedRate(initial, period, unlessStill(task));
  }

  @Override
  public Timer withFixedDelay(Duration initial, Duration delay, Runnable task) {
    return clock.withFixedDelay(initial, delay, unlessStill(task));
  }

  @Override
  public void sleepUntil(long time) throws InterruptedException {
    clock.sleepUntil(time);
  }

  @Override
  public boolean isManual() {
    return true;
  }

  @Override
  public boolean isAsleep(Thread thread) {
    return clock.isAsleep(thread);
  }
}
