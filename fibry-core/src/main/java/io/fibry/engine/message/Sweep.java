package io.fibry.engine.message;

import io.fibry.engine.jvm.StackProbe;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Gives the waits that last a timer each: those that are not over when it comes round, a hundredth
 * of a second after the first of them began. While nobody waits it does not run.
 *
 * <p>A wait takes a slot, and leaves it when it is over: a list would keep those that are long over
 * until the sweep, and every collection of garbage would copy them. Only where all slots in reach
 * are taken it is put on a list.
 *
 * <p>Nothing is missed: who adds a wait looks at {@code armed} afterwards, and the sweep looks at
 * slots and lists after it has cleared {@code armed}.
 */
public final class Sweep {
  public static final Duration EVERY = Duration.ofMillis(10);
  private static final int STRIPES = 16; // a power of two
  private static final int REACH = 16; // slots in a stripe, a cache line full
  // null -> a wait, by who waits -> null, by him or by the sweep
  private static final AtomicReferenceArray<Deadline> SLOTS = new AtomicReferenceArray<>(STRIPES * REACH);
  // the first of each stripe is a head; pushed by waiters, taken whole by the sweep
  private static final AtomicReferenceArray<Deadline> LISTS = new AtomicReferenceArray<>(STRIPES * REACH);
  private static final AtomicBoolean ARMED = new AtomicBoolean();

  private Sweep() {}

  public static void add(Deadline limit) {
    int stripe = (int) (Thread.currentThread().threadId() & STRIPES - 1) * REACH;
    int slot = stripe;
    while (slot < stripe + REACH && !take(slot, limit)) slot++;
    if (slot < stripe + REACH) limit.slot = slot;
    else do limit.next = LISTS.get(stripe); while (!LISTS.compareAndSet(stripe, limit.next, limit));
    arm();
  }

  private static boolean take(int slot, Deadline limit) {
    return SLOTS.getPlain(slot) == null && SLOTS.compareAndSet(slot, null, limit);
  }

  /** It is over. */
  public static void remove(Deadline limit) {
    if (SLOTS.getPlain(limit.slot) == limit) SLOTS.compareAndSet(limit.slot, limit, null);
  }

  private static void arm() {
    if (ARMED.get()) return;
    StackProbe.probe(); // more than the timer asks for: armed without a timer, no wait would ever end
    if (!ARMED.compareAndSet(false, true)) return;
    try {
      Scheduler.system().after(EVERY, Sweep::run);
    } catch (Throwable noMemory) {
      ARMED.set(false); // the next one tries again
      throw noMemory;
    }
  }

  private static void give(Deadline limit) {
    try {
      limit.arm();
    } catch (Throwable noMemory) {
      add(limit); // the next round tries again
    }
  }

  private static void run() {
    for (int slot = 0; slot < SLOTS.length(); slot++) {
      var limit = SLOTS.get(slot) == null ? null : SLOTS.getAndSet(slot, null);
      if (limit != null) give(limit);
    }
    for (int list = 0; list < LISTS.length(); list += REACH) {
      for (var limit = LISTS.getAndSet(list, null); limit != null;) {
        var next = limit.next;
        limit.next = null;
        give(limit);
        limit = next;
      }
    }
    ARMED.set(false);
    if (isNeeded()) arm();
  }

  private static boolean isNeeded() {
    for (int slot = 0; slot < SLOTS.length(); slot++) if (SLOTS.get(slot) != null) return true;
    for (int list = 0; list < LISTS.length(); list += REACH) if (LISTS.get(list) != null) return true;
    return false;
  }
}
