package io.fibry.engine.actor;

import io.fibry.Exitable;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.queue.SharedQueue;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** Ends workers that were idle for 10 s, down to the least, by one timer. */
final class WorkerRetirement {
  private static final Duration IDLE = Duration.ofSeconds(10);

  private final Cell pool;
  private final SharedQueue<Object> queue;
  private final Scheduler clock; // that of the queue
  private final AtomicBoolean timerSet = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by the thread that set timerSet

  WorkerRetirement(Cell pool, SharedQueue<Object> queue) {
    this.pool = pool;
    this.queue = queue;
    this.clock = pool.owner().options().scheduler();
  }

  /** A worker has become idle. */
  void idle() {
    var sharing = queue.poolPolicy();
    if (sharing.minWorkers() == sharing.maxWorkers()) return;
    try {
      setTimer();
    } catch (Throwable failure) { // of the user's scheduler
      EngineLog.LOG.error("{} could not set the timer by which its idle workers end", pool, failure);
    }
  }

  private void setTimer() {
    if (timerSet.get()) return;
    var next = queue.nextRetirement(IDLE.toNanos());
    if (next.isEmpty() || pool.isEnding() || !timerSet.compareAndSet(false, true)) return;
    try {
      // on a fiber: an end may run user code
      timer = clock.scheduleAt(next.getAsLong(),
          clock == Scheduler.system() ? () -> GuaranteedStart.start(this::retire) : this::retire);
    } catch (Throwable failure) {
      timerSet.set(false); // the next idle worker tries again
      throw failure;
    }
    if (pool.isEnding()) stop(); // its end may have come before
  }

  private void retire() {
    timerSet.set(false);
    for (var slot : queue.retire(clock.nanoTime(), IDLE.toNanos())) ((Exitable) slot.worker()).sendPoisonPill();
    setTimer();
  }

  void stop() {
    var running = timer;
    if (running != null) running.cancel();
  }
}
