package io.fibry.engine.jvm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Starts the drain in a slot while its waker blocks or computes. A daemon thread that checks all
 * slots. If it finds drains, it checks again 50 µs later. The drains that have not left their slots
 * by then are late, and it starts them. The fewer late drains it finds, the longer it waits before
 * the next check. While no drain is placed in a slot, it is parked.
 *
 * <p>It never sleeps while a drain waits. It sets {@code asleep} and then checks the slots once
 * more; a fiber places its drain in a slot and then reads {@code asleep}.
 */
final class HandOverMonitor {
  private static final long MIN_SLEEP = 50_000; // ns between two checks
  private static final long MAX_SLEEP = 2_500_000; // ns; a check costs some 20 µs
  private static final int MAX_UNUSED = 20; // checks of unused slots before the thread sleeps

  private final HandOverSlots slots;
  private final WokenDrain[] foundDrains; // in the current check; the monitor's thread only
  private int lastUses; // the slots' count at the last check; the monitor's thread only
  private final Consumer<WokenDrain> starter;
  private final Thread thread;
  private volatile boolean started; // false -> true, by the first fiber that needs it
  private final AtomicBoolean asleep = new AtomicBoolean(); // true -> false by the fiber that wakes it

  HandOverMonitor(HandOverSlots slots, Consumer<WokenDrain> starter) {
    this.slots = slots;
    this.starter = starter;
    this.foundDrains = new WokenDrain[slots.count()];
    this.thread = DaemonThreads.unstarted("fibry-monitor", this::watch);
  }

  /** Starts the thread if needed. Returns false if there is no memory for the thread now. */
  boolean ensureStarted() {
    return started || tryStart();
  }

  private synchronized boolean tryStart() {
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
        boolean foundLate = hasDrains() && startLateDrains();
        unused = isUsed() ? 0 : unused + 1;
        pause = foundLate ? MIN_SLEEP : Math.min(MAX_SLEEP, 2 * pause);
        if (unused < MAX_UNUSED) continue;
        sleep();
        unused = 0;
        pause = MIN_SLEEP;
      } catch (Throwable noMemory) {} // the next check tries again
    }
  }

  private boolean isUsed() {
    int oldUses = lastUses;
    lastUses = slots.useCount();
    return lastUses != oldUses;
  }

  private void sleep() {
    tryFallAsleep();
    while (isAsleep()) LockSupport.park(this);
  }

  void tryFallAsleep() {
    asleep.set(true);
    if (hasDrains()) asleep.set(false);
  }

  boolean isAsleep() {
    return asleep.get();
  }

  private boolean hasDrains() {
    boolean hasDrain = false;
    for (int slot = 0; slot < foundDrains.length; slot++) hasDrain |= (foundDrains[slot] = slots.peek(slot)) != null;
    return hasDrain;
  }

  /**
   * Starts the drains that the last check found and that are still in their slots. Returns whether
   * there were any.
   */
  private boolean startLateDrains() {
    LockSupport.parkNanos(this, MIN_SLEEP);
    boolean foundLate = false;
    for (int slot = 0; slot < foundDrains.length; slot++) {
      var drain = foundDrains[slot];
      foundDrains[slot] = null;
      if (drain == null || !slots.take(slot, drain)) continue;
      foundLate = true;
      drain.penalizeWaker();
      starter.accept(drain);
    }
    return foundLate;
  }
}
