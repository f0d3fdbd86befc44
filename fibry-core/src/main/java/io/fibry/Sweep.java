package io.fibry;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Gives the waits that last a timer each: those that are not over when it comes round, a hundredth of a second after the first of them began. While nobody waits it does not run.
 *
 * <p>Nothing is missed: who adds a wait looks at {@code armed} afterwards, and the sweep looks at the lists after it has cleared {@code armed}.
 */
final class Sweep {
  static final Duration EVERY = Duration.ofMillis(10);
  private static final int STRIPES = 16; // a power of two
  private static final int APART = 16; // references in a cache line
  private static final AtomicReferenceArray<Limit> LISTS = new AtomicReferenceArray<>(STRIPES * APART); // heads; pushed by waiters, taken whole by the sweep
  private static final AtomicBoolean ARMED = new AtomicBoolean();

  private Sweep() {}

  static void add(Limit limit) {
    int list = (int) (Thread.currentThread().threadId() & STRIPES - 1) * APART;
    do limit.next = LISTS.get(list); while (!LISTS.compareAndSet(list, limit.next, limit));
    arm();
  }

  private static void arm() {
    if (ARMED.get()) return;
    Stack.probe(); // more than the timer asks for: armed without a timer, no wait would ever end
    if (!ARMED.compareAndSet(false, true)) return;
    try {
      Scheduler.system().after(EVERY, Sweep::run);
    } catch (Throwable noMemory) {
      ARMED.set(false); // the next one tries again
      throw noMemory;
    }
  }

  private static void give(Limit limit) {
    try {
      limit.arm();
    } catch (Throwable noMemory) {
      add(limit); // the next round tries again
    }
  }

  private static void run() {
    for (int list = 0; list < LISTS.length(); list += APART) {
      for (var limit = LISTS.getAndSet(list, null); limit != null; ) {
        var next = limit.next;
        limit.next = null;
        give(limit);
        limit = next;
      }
    }
    ARMED.set(false);
    for (int list = 0; list < LISTS.length(); list += APART) if (LISTS.get(list) != null) arm();
  }
}
