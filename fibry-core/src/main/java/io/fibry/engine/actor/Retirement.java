package io.fibry.engine.actor;

import io.fibry.engine.jvm.Threads;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.queue.WorkerSlot;
import io.fibry.engine.queue.SharedQueue;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ends the workers of a pool that have had nothing to do for so long, down to the least. One timer
 * at most, and none where nobody rests.
 */
public final class Retirement {
  private static final Duration LENGTH = Duration.ofSeconds(10);

  private final PoolCell pool;
  private final SharedQueue<Object> queue;
  private final AtomicBoolean watched = new AtomicBoolean(); // the timer is set
  // null: never set; written by who sets it, read by who ends the pool
  private volatile Scheduler.Timer timer;

  public Retirement(PoolCell pool, SharedQueue<Object> queue) {
    this.pool = pool;
    this.queue = queue;
  }

  /** Somebody has begun to rest. */
  public void begins(WorkerSlot<Object> seat) {
    var sharing = queue.sharing();
    if (sharing.least() == sharing.most()) return;
    try {
      watch(seat);
    } catch (Throwable failure) { // of the user's scheduler
      Scope.LOG.error("{} could not set the timer by which its workers end in a calm", pool, failure);
    }
  }

  private Scheduler clock() {
    return pool.scope().options().scheduler;
  }

  private void watch(WorkerSlot<Object> rests) {
    var clock = clock();
    long left = queue.untilRetirement(rests, clock.nanoTime(), LENGTH.toNanos());
    if (left == 0 || pool.phase > PoolCell.OPEN || !watched.compareAndSet(false, true)) return;
    boolean set = false;
    try {
      // an end may run code of the user
      timer = clock.after(Duration.ofNanos(left),
          clock == Scheduler.system() ? () -> Threads.FIBER.activate(this::shrink) : this::shrink);
      set = true;
    } finally {
      if (!set) watched.set(false); // the next one tries again
    }
    if (pool.phase > PoolCell.OPEN) stop(); // who ended it may have looked before
  }

  private void shrink() {
    watched.set(false);
    for (var seat : queue.retire(clock().nanoTime(), LENGTH.toNanos())) ((Worker) seat.worker()).sendPoisonPill();
    watch(null);
  }

  public void stop() {
    var due = timer;
    if (due != null) due.cancel();
  }
}
