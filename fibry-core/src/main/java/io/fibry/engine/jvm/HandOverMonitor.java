package io.fibry.engine.jvm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Starts a drain that stays in its slot because its waker blocks or computes. A daemon thread
 * checks all slots. If it finds drains, it checks again 50 µs later. A drain that has not left its
 * slot by the second check is late, and the thread starts the drain. After each check without a
 * late drain, the pause before the next check is doubled. If no drain is placed in a slot for some
 * checks, the thread parks until the next drain.
 *
 * <p>The thread never sleeps while a drain waits. The thread sets {@code asleep} and then checks
 * the slots once more; a fiber places its drain in a slot and then reads {@code asleep}.
 */
final class HandOverMonitor implements Runnable {
  private static final long MIN_PAUSE = 50_000; // ns between two checks
  private static final long MAX_PAUSE = 2_500_000; // ns; a check costs some 20 µs
  private static final int MAX_UNUSED = 20; // checks in a row without a new drain, after which the thread sleeps

  private final HandOverSlots slots;
  private final WokenDrain[] foundDrains; // the drains of the current check, by slot; the monitor's thread only
  private int lastUses; // the use count of the slots at the last check; the monitor's thread only
  private final Consumer<WokenDrain> starter;
  private final Thread thread;
  private volatile boolean isStarted; // false -> true, by the first fiber that needs the thread
  private final AtomicBoolean asleep = new AtomicBoolean(); // set by the thread, cleared by it or by a fiber

  HandOverMonitor(HandOverSlots slots, Consumer<WokenDrain> starter) {
    this.slots = slots;
    this.starter = starter;
    this.foundDrains = new WokenDrain[slots.count()];
    this.thread = DaemonThreads.unstarted("fibry-monitor", this);
  }

  /** Starts the thread if it is not started. Returns false if memory is too low for the thread. */
  boolean ensureStarted() {
    return isStarted || tryStart();
  }

  private synchronized boolean tryStart() {
    try {
      if (!isStarted) thread.start();
      return isStarted = true;
    } catch (Throwable noThread) {
      return false;
    }
  }

  void wake() {
    if (asleep.get() && asleep.compareAndSet(true, false)) LockSupport.unpark(thread);
  }

  /** The loop of the thread. */
  @Override
  public void run() {
    long pause = MIN_PAUSE;
    int unusedChecks = 0;
    while (true) {
      try {
        LockSupport.parkNanos(this, pause);
        boolean hasLateDrain = findDrains() && startLateDrains();
        unusedChecks = hasNewUses() ? 0 : unusedChecks + 1;
        pause = hasLateDrain ? MIN_PAUSE : Math.min(MAX_PAUSE, 2 * pause);
        if (unusedChecks < MAX_UNUSED) continue;
        sleep();
        unusedChecks = 0;
        pause = MIN_PAUSE;
      } catch (Throwable noMemory) {} // the next check tries again
    }
  }

  /** Returns whether a slot was used since the last call. */
  private boolean hasNewUses() {
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
    if (findDrains()) asleep.set(false);
  }

  boolean isAsleep() {
    return asleep.get();
  }

  /** Fills in {@code foundDrains}. Returns whether there is a drain in a slot. */
  private boolean findDrains() {
    boolean hasDrain = false;
    for (int slot = 0; slot < foundDrains.length; slot++) hasDrain |= (foundDrains[slot] = slots.peek(slot)) != null;
    return hasDrain;
  }

  /**
   * Starts the drains that the last check found and that are still in their slots 50 µs later.
   * Returns whether such a drain was found.
   */
  private boolean startLateDrains() {
    LockSupport.parkNanos(this, MIN_PAUSE);
    boolean hasLateDrain = false;
    for (int slot = 0; slot < foundDrains.length; slot++) {
      var drain = foundDrains[slot];
      foundDrains[slot] = null;
      if (drain == null || !slots.take(slot, drain)) continue;
      hasLateDrain = true;
      drain.penalizeWaker();
      starter.accept(drain);
    }
    return hasLateDrain;
  }
}
