package io.fibry.engine.message;

import io.fibry.time.Scheduler;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;

/**
 * A timer that is cancelled in most cases, such as the limit of a request to another process. A
 * long limit is added to the {@link LongWaitSweep}, which sets a timer of the clock only if the
 * limit is not cancelled soon.
 *
 * <p>The task runs at most once, because it is taken by an atomic operation: by the run or by the
 * cancel. No timer of the clock is forgotten. The sweep writes {@code timer}, and then reads
 * {@code task}; a cancel clears {@code task}, and then reads {@code timer}. So at least one of the
 * two threads cancels that timer.
 */
public final class ExpiryTimer extends LongWaitSweep.SweepEntry implements Scheduler.Timer, Runnable {
  private static final VarHandle TASK = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "task",
      VarHandle.class, ExpiryTimer.class, Runnable.class);

  private final Scheduler clock;
  private final long expiresAt; // nanoseconds by the clock
  private volatile Runnable task; // null once it has begun or was cancelled
  private volatile Scheduler.Timer timer; // written by `startTimer`, read by the cancelling thread; null before

  private ExpiryTimer(Scheduler clock, Duration limit, Runnable task) {
    this.clock = clock;
    this.expiresAt = clock.nanoTime() + Deadline.nanos(limit);
    this.task = task;
  }

  /** Runs a task after the limit, on the thread of the clock. */
  public static Scheduler.Timer start(Scheduler clock, Duration limit, Runnable task) {
    if (!LongWaitSweep.isUsedFor(clock, limit)) return clock.schedule(limit, task);
    var timer = new ExpiryTimer(clock, limit, task);
    LongWaitSweep.add(timer);
    return timer;
  }

  @Override
  void startTimer() {
    if (task == null) return;
    var newTimer = clock.scheduleAt(expiresAt, this);
    timer = newTimer;
    if (task == null) newTimer.cancel();
  }

  @Override
  public void run() {
    var dueTask = (Runnable) TASK.getAndSet(this, null);
    if (dueTask != null) dueTask.run();
  }

  @Override
  public boolean cancel() {
    if (TASK.getAndSet(this, null) == null) return false;
    LongWaitSweep.remove(this);
    var startedTimer = timer;
    if (startedTimer != null) startedTimer.cancel();
    return true;
  }
}
