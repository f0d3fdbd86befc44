package io.fibry.engine.jvm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Starts what lies in a slot while its waker blocks or computes. A daemon thread that looks at all
 * slots. Where it finds drains, it looks again 50 µs later, and starts those that are still there,
 * because they are late. The fewer it finds late, the longer it waits before the next look. While
 * nothing is laid, it is parked.
 *
 * <p>It never sleeps while a drain waits: it declares itself asleep and then looks once more, and a
 * fiber places its drain and then reads whether the monitor is asleep.
 */
final class HandOverMonitor {
  private static final long MIN_SLEEP = 50_000; // ns
  private static final long MAX_SLEEP = 2_500_000; // ns; a look costs some 20 µs
  private static final int UNUSED = 20; // looks, before it sleeps

  private final HandOverSlots slots;
  private final WokenDrain[] seen; // at this look; the monitor's thread only, as the next
  private int uses;
  private final Consumer<WokenDrain> start;
  private final Thread thread;
  private volatile boolean started; // false -> true, by the first fiber that needs it
  private final AtomicBoolean asleep = new AtomicBoolean(); // true -> false by the fiber that wakes it

  HandOverMonitor(HandOverSlots slots, Consumer<WokenDrain> start) {
    this.slots = slots;
    this.start = start;
    this.seen = new WokenDrain[slots.count()];
    this.thread = DaemonThreads.unstarted("fibry-monitor", this::watch);
  }

  /** Returns false if there is no memory for the thread now. */
  boolean ensureStarted() {
    return started || isStarted();
  }

  private synchronized boolean isStarted() {
    try {
      if (!started) thread.start();
      return started = true;
    } catch (Throwable noThread) {
      return false;
    }
  }

  void wake() {
    if (asleep.get() && asleep.compareAndSet(true, false)) LockSupport.unpark(thread);
  }

  private void watch() {
    long pause = MIN_SLEEP;
    int unused = 0;
    while (true) {
      try {
        LockSupport.parkNanos(this, pause);
        boolean late = hasDrains() && startLate();
        unused = isUsed() ? 0 : unused + 1;
        pause = late ? MIN_SLEEP : Math.min(MAX_SLEEP, 2 * pause);
        if (unused < UNUSED) continue;
        sleep();
        unused = 0;
        pause = MIN_SLEEP;
      } catch (Throwable noMemory) {} // the next look tries again
    }
  }

  private boolean isUsed() {
    int before = uses;
    uses = slots.uses();
    return uses != before;
  }

  private void sleep() {
    fallAsleep();
    while (isAsleep()) LockSupport.park(this);
  }

  void fallAsleep() {
    asleep.set(true);
    if (hasDrains()) asleep.set(false);
  }

  boolean isAsleep() {
    return asleep.get();
  }

  private boolean hasDrains() {
    boolean any = false;
    for (int slot = 0; slot < seen.length; slot++) any |= (seen[slot] = slots.at(slot)) != null;
    return any;
  }

  /** Starts the drains that were seen in the last look and are still there. */
  private boolean startLate() {
    LockSupport.parkNanos(this, MIN_SLEEP);
    boolean late = false;
    for (int slot = 0; slot < seen.length; slot++) {
      var drain = seen[slot];
      seen[slot] = null;
      if (drain == null || !slots.take(slot, drain)) continue;
      late = true;
      drain.penalizeWaker();
      start.accept(drain);
    }
    return late;
  }
}
