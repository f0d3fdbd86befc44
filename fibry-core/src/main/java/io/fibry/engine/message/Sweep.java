package io.fibry.engine.message;

import io.fibry.engine.jvm.StackProbe;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Gives each long wait a timer. It runs 10 ms after the first wait began and arms those that still
 * last; while no thread waits it does not run.
 *
 * <p>A wait takes a slot and leaves it at its end. A list would keep finished waits until the next
 * sweep, and every garbage collection would copy them; a wait goes on a list only if all slots in
 * its stripe are taken.
 *
 * <p>No wait is missed: {@code add} looks at {@code ARMED} after it added the wait, and the sweep
 * looks at slots and lists after it cleared {@code ARMED}.
 */
final class Sweep {
  static final Duration EVERY = Duration.ofMillis(10);
  private static final int STRIPES = 16; // a power of two
  private static final int SLOTS_IN_STRIPE = 16; // a cache line
  // null -> a wait, by its thread; -> null by the same thread or by the sweep
  private static final AtomicReferenceArray<Entry> SLOTS = new AtomicReferenceArray<>(STRIPES * SLOTS_IN_STRIPE);
  // the first element of each stripe heads a list; threads push, the sweep takes the whole list
  private static final AtomicReferenceArray<Entry> LISTS = new AtomicReferenceArray<>(STRIPES * SLOTS_IN_STRIPE);
  private static final AtomicBoolean ARMED = new AtomicBoolean();

  /** A wait that may need a timer. */
  abstract static class Entry {
    private Entry next; // in a list
    private int slot; // where it may stand; written by the waiting thread

    /** Sets the timer that ends the wait, unless it has ended. */
    abstract void arm();
  }

  private Sweep() {}

  static void add(Entry wait) {
    int stripe = (int) (Thread.currentThread().threadId() & STRIPES - 1) * SLOTS_IN_STRIPE;
    int slot = stripe;
    while (slot < stripe + SLOTS_IN_STRIPE && !take(slot, wait)) slot++;
    if (slot < stripe + SLOTS_IN_STRIPE) wait.slot = slot;
    else do wait.next = LISTS.get(stripe); while (!LISTS.compareAndSet(stripe, wait.next, wait));
    start();
  }

  private static boolean take(int slot, Entry wait) {
    return SLOTS.getPlain(slot) == null && SLOTS.compareAndSet(slot, null, wait);
  }

  static void remove(Entry wait) {
    if (SLOTS.getPlain(wait.slot) == wait) SLOTS.compareAndSet(wait.slot, wait, null);
  }

  private static void start() {
    if (ARMED.get()) return;
    StackProbe.probe(); // more than the timer needs: armed without a timer, no wait would ever end
    if (!ARMED.compareAndSet(false, true)) return;
    try {
      Scheduler.system().after(EVERY, Sweep::run);
    } catch (Throwable noMemory) {
      ARMED.set(false); // the next wait tries again
      throw noMemory;
    }
  }

  private static void arm(Entry wait) {
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
    if (isNeeded()) start();
  }

  private static boolean isNeeded() {
    for (int slot = 0; slot < SLOTS.length(); slot++) if (SLOTS.get(slot) != null) return true;
    for (int list = 0; list < LISTS.length(); list += SLOTS_IN_STRIPE) if (LISTS.get(list) != null) return true;
    return false;
  }
}
