package io.fibry.engine.message;

import io.fibry.engine.jvm.SharedCheck;
import io.fibry.engine.world.Environment;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A task that starts a timer for each wait that still lasts. A wait schedules the task for 10 ms
 * later, unless the task is scheduled already. Most waits end earlier, and need no timer.
 *
 * <p>A wait occupies a slot until the sweep removes the wait, or until the waiting thread removes
 * it at the end of the wait. The number of the thread chooses a stripe of 16 slots. If all slots of
 * the stripe are occupied, the wait is added to a list. Slots are better, because a list keeps
 * ended waits in memory until the next sweep.
 */
final class LongWaitSweep implements Runnable {
  static final Duration PERIOD = Duration.ofMillis(10);
  static final Duration MIN_LIMIT = Duration.ofNanos(10 * PERIOD.toNanos()); // shorter waits get a timer at once
  private static final int STRIPES = 16; // a power of two
  private static final int SLOTS_IN_STRIPE = 16; // a cache line
  // null -> a wait, by the thread that adds it; a wait -> null, by the waiting thread or the sweep
  private static final AtomicReferenceArray<SweepEntry> SLOTS = new AtomicReferenceArray<>(STRIPES * SLOTS_IN_STRIPE);
  // one list for each stripe, at the stripe's first index; threads push waits, and the sweep takes
  // the whole list
  private static final AtomicReferenceArray<SweepEntry> LISTS = new AtomicReferenceArray<>(STRIPES * SLOTS_IN_STRIPE);
  private static final SharedCheck SWEEP = new SharedCheck(PERIOD, new LongWaitSweep());

  abstract static class SweepEntry {
    private SweepEntry next; // the next entry of a list
    // The slot that this entry may occupy; written by the thread that adds the entry. A thread that
    // reads an old value leaves the entry in its slot until the next sweep
    private int slot;

    /** Sets the timer, unless the wait has ended. */
    abstract void startTimer();
  }

  private LongWaitSweep() {}

  /**
   * Returns whether the sweep may start the timer of a wait by this clock. A simulation must leave
   * no wait in the sweep, because the whole process shares the sweep.
   */
  static boolean isUsedFor(Scheduler clock) {
    return clock == Scheduler.system() && Environment.simulated == null;
  }

  static boolean isUsedFor(Scheduler clock, Duration limit) {
    return isUsedFor(clock) && limit.compareTo(MIN_LIMIT) >= 0;
  }

  static void add(SweepEntry wait) {
    put(wait);
    SWEEP.schedule();
  }

  /**
   * Adds a wait to the next sweep, because memory was exhausted when the wait had to expire. Throws
   * nothing.
   */
  static void addQuietly(SweepEntry wait) {
    put(wait);
    SWEEP.scheduleEventually();
  }

  private static void put(SweepEntry wait) {
    int stripe = (int) (Thread.currentThread().threadId() & STRIPES - 1) * SLOTS_IN_STRIPE;
    int slot = stripe;
    while (slot < stripe + SLOTS_IN_STRIPE && !tryOccupy(slot, wait)) slot++;
    if (slot < stripe + SLOTS_IN_STRIPE) wait.slot = slot;
    else do wait.next = LISTS.get(stripe); while (!LISTS.compareAndSet(stripe, wait.next, wait));
  }

  private static boolean tryOccupy(int slot, SweepEntry wait) {
    return SLOTS.getPlain(slot) == null && SLOTS.compareAndSet(slot, null, wait);
  }

  /**
   * Removes the wait from its slot. Returns false if the sweep has taken the wait, or the wait is
   * in a list.
   */
  static boolean remove(SweepEntry wait) {
    return SLOTS.getPlain(wait.slot) == wait && SLOTS.compareAndSet(wait.slot, wait, null);
  }

  private static void tryStartTimer(SweepEntry wait) {
    try {
      wait.startTimer();
    } catch (Throwable noMemory) {
      addQuietly(wait); // the next sweep tries again
    }
  }

  @Override
  public void run() {
    for (int slot = 0; slot < SLOTS.length(); slot++) {
      var wait = SLOTS.get(slot) == null ? null : SLOTS.getAndSet(slot, null);
      if (wait != null) tryStartTimer(wait);
    }
    for (int index = 0; index < LISTS.length(); index += SLOTS_IN_STRIPE) {
      for (var wait = LISTS.getAndSet(index, null); wait != null;) {
        var nextWait = wait.next;
        wait.next = null;
        tryStartTimer(wait);
        wait = nextWait;
      }
    }
  }
}
