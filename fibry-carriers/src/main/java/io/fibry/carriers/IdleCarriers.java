package io.fibry.carriers;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the carriers that sleep and the carriers that search for work, and wakes sleeping
 * carriers.
 *
 * <p><b>No entry is missed.</b> A sender adds an entry to a queue that all carriers see. It then
 * calls {@link #wakeOne}, which reads {@code searching}, {@code sleeping} and the sleepers' states.
 * A carrier writes these and then checks the queue. If {@code searching} is not 0, a searching
 * carrier will later fall asleep or find an entry. In both cases it lowers the count and then
 * checks the queue. If no carrier is asleep or woken, each carrier is busy, and will check the
 * queue before it sleeps. A woken carrier checks the queue.
 *
 * <p>Only the carrier itself changes the counts. So a waker whose stack overflows leaves no wrong
 * count. It can leave a carrier woken and parked. The next waker and the {@link CarrierWatch}
 * unpark such a carrier again.
 */
final class IdleCarriers {
  private final AtomicInteger searching = new AtomicInteger();
  private final AtomicInteger sleeping = new AtomicInteger(); // also carriers that fall asleep or wake up

  /**
   * Counts this carrier as searching. Returns false, and counts nothing, if more than half of the
   * carriers already search.
   */
  boolean beginSearch(int carriers) {
    if (2 * searching.get() > carriers) return false;
    searching.incrementAndGet();
    return true;
  }

  void endSearch() {
    searching.decrementAndGet();
  }

  void beginSleep(Sleeper sleeper) {
    sleeping.incrementAndGet();
    sleeper.fallAsleep();
  }

  void endSleep(Sleeper sleeper) {
    sleeper.wakeUp();
    sleeping.decrementAndGet();
  }

  /** Returns whether a carrier sleeps, and none searches. */
  boolean canWake() {
    return sleeping.get() > 0 && searching.get() == 0;
  }

  /** Returns whether a carrier runs an entry or searches. */
  boolean hasAwake(int carriers) {
    return sleeping.get() < carriers;
  }

  /** Returns whether no carrier is free to take an entry. */
  boolean isEmpty() {
    return sleeping.get() == 0 && searching.get() == 0;
  }

  /** Wakes a carrier, unless one searches, one is woken already, or none sleeps. */
  void wakeOne(Sleeper[] sleepers) {
    while (canWake()) {
      Sleeper asleep = null;
      for (var sleeper : sleepers) {
        if (sleeper.isWoken()) {
          sleeper.unparkWoken();
          return;
        }
        if (asleep == null && sleeper.isAsleep()) asleep = sleeper;
      }
      if (asleep == null || asleep.tryWake()) return;
    }
  }
}
