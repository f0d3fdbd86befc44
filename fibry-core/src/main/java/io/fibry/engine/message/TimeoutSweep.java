package io.fibry.engine.message;

import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.Rescuable;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Runs 10 ms after the first wait began, and gives a timer to each wait that still lasts.
 *
 * <p>A wait takes a slot until its end. If its stripe is full, a wait is put on a list, which keeps
 * it in memory until the next sweep, for garbage collections to copy.
 *
 * <p>No wait is missed: {@code add} adds the wait and then reads {@code ARMED}; the sweep clears
 * {@code ARMED} and then looks for waits.
 */
final class TimeoutSweep {
  static final Duration PERIOD = Duration.ofMillis(10);
  private static final int STRIPES = 16; // a power of two
  private static final int SLOTS_IN_STRIPE = 16; // a cache line
  // null -> a wait, by its thread; -> null by its thread or the sweep
  private static final AtomicReferenceArray<SweepEntry> SLOTS = new AtomicReferenceArray<>(STRIPES * SLOTS_IN_STRIPE);
  // one list for each stripe, at its first element; threads push, the sweep takes all
  private static final AtomicReferenceArray<SweepEntry> LISTS = new AtomicReferenceArray<>(STRIPES * SLOTS_IN_STRIPE);
  private static final AtomicBoolean ARMED = new AtomicBoolean();
  private static final Rescuable RESTARTER = TimeoutSweep::restart;
  private static final Runnable RUN = TimeoutSweep::run; // linked while there is memory

  abstract static class SweepEntry {
    private SweepEntry next; // in a list
    private int slot; // where it may be; the waiting thread only

    /** Sets the timer, unless the wait has ended. */
    abstract void arm();
  }

  private TimeoutSweep() {}

  static void add(SweepEntry wait) {
    put(wait);
    start();
  }

  /** Throws nothing: for a wait that could not be ended for want of memory. */
  static void addQuietly(SweepEntry wait) {
    put(wait);
    restart();
  }

  private static void put(SweepEntry wait) {
    int stripe = (int) (Thread.currentThread().threadId() & STRIPES - 1) * SLOTS_IN_STRIPE;
    int slot = stripe;
    while (slot < stripe + SLOTS_IN_STRIPE && !take(slot, wait)) slot++;
    if (slot < stripe + SLOTS_IN_STRIPE) wait.slot = slot;
    else do wait.next = LISTS.get(stripe); while (!LISTS.compareAndSet(stripe, wait.next, wait));
  }

  private static boolean take(int slot, SweepEntry wait) {
    return SLOTS.getPlain(slot) == null && SLOTS.compareAndSet(slot, null, wait);
  }

  static void remove(SweepEntry wait) {
    if (SLOTS.getPlain(wait.slot) == wait) SLOTS.compareAndSet(wait.slot, wait, null);
  }

  private static void start() {
    if (ARMED.get()) return;
    StackProbe.probe(); // ARMED without a timer would let no wait end
    if (!ARMED.compareAndSet(false, true)) return;
    try {
      Scheduler.system().schedule(PERIOD, RUN);
    } catch (Throwable noMemory) {
      ARMED.set(false); // the next wait tries again
      throw noMemory;
    }
  }

  private static void arm(SweepEntry wait) {
    try {
      wait.arm();
    } catch (Throwable noMemory) {
      add(wait); // the next sweep tries again
    }
  }

  private static void run() {
    for (int slot = 0; slot < SLOTS.length(); slot++) {
      var wait = SLOTS.get(slot) == null ? null : SLOTS.getAndSet(slot, null);
      if (wait != null) arm(wait);
    }
    for (int list = 0; list < LISTS.length(); list += SLOTS_IN_STRIPE) {
      for (var wait = LISTS.getAndSet(list, null); wait != null;) {
        var next = wait.next;
        wait.next = null;
        arm(wait);
        wait = next;
      }
    }
    ARMED.set(false);
    if (isNeeded()) restart();
  }

  private static void restart() {
    try {
      start();
    } catch (Throwable noMemory) {
      EngineThreads.rescue(RESTARTER);
    }
  }

  private static boolean isNeeded() {
    for (int slot = 0; slot < SLOTS.length(); slot++) if (SLOTS.get(slot) != null) return true;
    for (int list = 0; list < LISTS.length(); list += SLOTS_IN_STRIPE) if (LISTS.get(list) != null) return true;
    return false;
  }
}
