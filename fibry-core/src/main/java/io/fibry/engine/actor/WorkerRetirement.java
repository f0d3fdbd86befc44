package io.fibry.engine.actor;

import io.fibry.Exitable;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.queue.SharedQueue;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ends workers that have been idle for 10 s, but keeps the pool's minimum number of workers. One
 * timer serves all workers.
 */
final class WorkerRetirement {
  private static final Duration MAX_IDLE = Duration.ofSeconds(10);

  private final Cell pool;
  private final SharedQueue<Object> queue;
  private final Scheduler clock; // the queue uses the same clock
  private final AtomicBoolean isTimerSet = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by the thread that set isTimerSet

  WorkerRetirement(Cell pool, SharedQueue<Object> queue) {
    this.pool = pool;
    this.queue = queue;
    this.clock = pool.owner().options().scheduler();
  }

  /**
   * Called when a worker has become idle. Sets the timer, unless it is set or the pool has only its
   * minimum of workers.
   */
  void onWorkerIdle() {
    var spec = queue.poolSpec();
    if (spec.minWorkers() == spec.maxWorkers()) return;
    try {
      setTimer();
    } catch (Throwable failure) { // from the user's scheduler
      EngineLog.log().error("{} could not set the timer that ends its idle workers; it will try again when another "
          + "worker becomes idle", pool, failure);
    }
  }

  private void setTimer() {
    if (isTimerSet.get()) return;
    var nextTime = queue.nextRetirement(MAX_IDLE.toNanos());
    if (nextTime.isEmpty() || pool.isEnding() || !isTimerSet.compareAndSet(false, true)) return;
    try {
      // The end of a worker may run user code, which must not hold up the one thread of the
      // system's clock; other schedulers choose the threads of their tasks themselves
      timer = clock.scheduleAt(nextTime.getAsLong(),
          clock == Scheduler.system() ? () -> GuaranteedStart.start(this::retire) : this::retire);
    } catch (Throwable failure) {
      isTimerSet.set(false); // the next worker that becomes idle tries again
      throw failure;
    }
    if (pool.isEnding()) stop(); // the pool may have ended before the timer was set
  }

  private void retire() {
    isTimerSet.set(false);
    for (var slot : queue.retire(clock.nanoTime(), MAX_IDLE.toNanos())) end((Exitable) slot.worker());
    setTimer();
  }

  private void end(Exitable worker) {
    try {
      worker.sendPoisonPill();
    } catch (Throwable failure) { // such as an OutOfMemoryError; the loop then ends the other retired workers
      EngineLog.log().error("{} could not end an idle worker", pool, failure);
    }
  }

  /**
   * Cancels the timer. A task that has already started may still send pills to idle workers, which
   * get pills from the ending pool anyway.
   */
  void stop() {
    var currentTimer = timer;
    try {
      if (currentTimer != null) currentTimer.cancel();
    } catch (Throwable failure) { // from the user's scheduler
      EngineLog.log().error("{} could not cancel the timer that ends its idle workers", pool, failure);
    }
  }
}
