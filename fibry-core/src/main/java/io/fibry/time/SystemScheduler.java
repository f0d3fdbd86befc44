package io.fibry.time;

import io.fibry.engine.timer.TimerQueue;
import io.fibry.engine.world.Environment;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs all tasks on the thread of a {@link TimerQueue}. */
final class SystemScheduler extends TaskScheduler {
  static final SystemScheduler INSTANCE = new SystemScheduler(TimerQueue.SYSTEM);

  private final TimerQueue queue;

  SystemScheduler(TimerQueue queue) {
    this.queue = queue;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Timer scheduleAt(long time, Runnable task) {
    if (Environment.simulated != null) return start(task, Math.max(0, time - System.nanoTime()), 0);
    return startAt(time, task, 0);
  }

  @Override
  Timer start(Runnable task, long delay, long period) {
    var simulation = Environment.simulated;
    Scheduler clock = simulation == null ? this : simulation.<Scheduler>instanceFor(this, () -> this);
    if (clock != this) return start(clock, task, Duration.ofNanos(delay), period);
    return startAt(System.nanoTime() + delay, task, period);
  }

  private Timer startAt(long dueAt, Runnable task, long period) {
    var timer = new QueuedTask(Objects.requireNonNull(task, "task"), dueAt, period);
    queue.start(timer);
    return timer;
  }

  private static Timer start(Scheduler clock, Runnable task, Duration delay, long period) {
    if (period == 0) return clock.schedule(delay, task);
    var interval = Duration.ofNanos(Math.abs(period));
    return period > 0 ? clock.scheduleAtFixedRate(delay, interval, task)
        : clock.scheduleWithFixedDelay(delay, interval, task);
  }

  /** Waits for the future itself, so no timer is set. */
  @Override
  public boolean awaitDone(CompletableFuture<?> future, Duration limit) throws InterruptedException {
    try {
      future.get(Durations.nanos(limit), TimeUnit.NANOSECONDS);
    } catch (TimeoutException timeout) {
      return false;
    } catch (ExecutionException | CancellationException failure) {} // the future is completed, too
    return true;
  }

  private final class QueuedTask extends ScheduledTask {
    QueuedTask(Runnable task, long dueAt, long period) {
      super(task, dueAt, period);
    }

    @Override
    TaskScheduler clock() {
      return SystemScheduler.this;
    }

    @Override
    void startAgain() {
      startAgainIn(queue);
    }

    @Override
    boolean cancelInQueue() {
      return cancelIn(queue);
    }
  }
}
