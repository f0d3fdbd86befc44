package io.fibry.engine.scope;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.QueueAges;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.time.Scheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Observes between two reads of totals the actors for which messages wait. Without these
 * observations, a read would know only which messages had come before the read before. The wait of
 * the oldest message would then fall by the time between two reads, and rise again, while its true
 * time stays. Observes once a second, or more seldom if that takes long, but at least each 15
 * seconds, and only while the totals are read. Thread-safe.
 */
final class WaitObserver {
  // constants of the compiler: the class needs no initializer, which could fail for lack of memory
  private static final long PERIOD_NANOS = 1_000_000_000;
  // a pause of the process during an observation looks like a long observation, and must not end
  // the next ones
  private static final long MAX_PAUSE_NANOS = 15 * PERIOD_NANOS;
  private static final int PAUSE_FACTOR = 200; // how many times as long as an observation a pause is at least
  private static final long MAX_UNREAD_NANOS = 120 * PERIOD_NANOS; // without a read, it ends

  /** An actor for which messages wait, and for how long at least the oldest has waited. */
  record Waiting(Cell cell, long nanos) {}

  // the next ones are guarded by the monitor, which is not held during an observation
  private List<WeakReference<Cell>> cells = List.of(); // weak: an actor that ends must not stay in memory
  private long readAt; // when the totals were read last
  private Scheduler.Timer timer; // of the next observation; null: none, or it is in progress
  private boolean isObserving;
  private boolean isClosed;

  /**
   * Observes these actors from now on; the oldest waits, if there are too many. Called by reads.
   */
  synchronized void watch(List<Waiting> waiting, Scheduler clock) {
    if (waiting.size() > QueueAges.MAX_PRECISE)
      waiting.sort(Comparator.comparingLong(Waiting::nanos).reversed());
    cells = waiting.stream().limit(QueueAges.MAX_PRECISE).map(waits -> new WeakReference<>(waits.cell))
        .toList();
    readAt = clock.nanoTime();
    if (timer == null && !isObserving) schedule(clock, PERIOD_NANOS);
  }

  private synchronized void schedule(Scheduler clock, long pauseNanos) {
    isObserving = false;
    boolean isNeeded = !isClosed && !cells.isEmpty();
    try {
      timer = isNeeded ? clock.schedule(Duration.ofNanos(pauseNanos), () -> start(clock)) : null;
    } catch (RuntimeException refused) { // by a user's scheduler; a read must not fail, and the next one tries again
      timer = null;
    }
  }

  /** Uses a fiber, because the only thread of the system's clock must not search long mailboxes. */
  private void start(Scheduler clock) {
    if (clock != Scheduler.system()) observe(clock);
    else try {
      EngineThreads.startFiber(() -> observe(clock));
    } catch (Throwable noThread) {
      schedule(clock, PERIOD_NANOS); // otherwise a lack of memory would end the observations forever
      throw noThread;
    }
  }

  private void observe(Scheduler clock) {
    long start = clock.nanoTime();
    try {
      for (var cell : begin(start)) QueueAges.observe(cell);
    } finally {
      long elapsed = clock.nanoTime() - start;
      schedule(clock, Math.clamp(PAUSE_FACTOR * elapsed, PERIOD_NANOS, MAX_PAUSE_NANOS));
    }
  }

  /** Returns the actors that still have messages. */
  private synchronized List<Cell> begin(long now) {
    timer = null;
    isObserving = true;
    if (isClosed || now - readAt >= MAX_UNREAD_NANOS) cells = List.of();
    cells = cells.stream().filter(WaitObserver::isWaiting).toList();
    return cells.stream().map(WeakReference::get).filter(Objects::nonNull).toList();
  }

  private static boolean isWaiting(WeakReference<Cell> reference) {
    var cell = reference.get();
    return cell != null && cell.countQueued(1) > 0;
  }

  synchronized void close() {
    isClosed = true;
    cells = List.of();
    try {
      if (timer != null) timer.cancel();
    } catch (RuntimeException cannotBeCancelled) {
      // the timer of a user's scheduler finds no actors, and is the last one
    }
    timer = null;
  }
}
