package io.fibry.engine.queue;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The entrance of a queue whose entries are taken in the order of their arrival. Senders add
 * entries without the monitor of the queue; a thread that holds the monitor collects them.
 *
 * <p>Entries are numbered from 1. So the size of the queue is the number of its newest entry, minus
 * the count of departed entries. Each entry links to the entry before it, back to the last
 * collected entry. A sender enters by one compare-and-set of {@link #newest}. Each entry object is
 * used once, and the newest entry stays in memory. So if a sender finds the same newest entry
 * again, no other entry has entered in between.
 */
final class ArrivalBuffer<E> {
  private static final int MAX_CHECKS = 64;
  private static final int MAX_STALLED_CHECKS = 8; // checks in a row that see no departure
  private static final int PAUSES_PER_CHECK = 8;
  // how many free places a spinning sender waits for, because a sender that took the first free
  // place would fill the queue again at once
  private static final int WANTED_SPACE = 32;
  private static final VarHandle NEWEST =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "newest", VarHandle.class, ArrivalBuffer.class,
          QueueEntry.class);

  private final int capacity;
  private volatile QueueEntry<E> newest; // null if no entry has come; written by senders, read by all threads
  // the highest entry number that fits into the capacity, or a lower number that was computed
  // earlier; written and read by senders
  private volatile long maxNumber;
  private QueueEntry<E> lastCollected; // the last collected entry; guarded by the queue's monitor
  private final TakenMessages<E> taken; // counts the departed entries
  private final AdaptiveSpin spaceSpin = new AdaptiveSpin();
  private final AdaptiveSpin arrivalSpin = new AdaptiveSpin();

  ArrivalBuffer(int capacity, TakenMessages<E> taken) {
    this.capacity = capacity;
    this.taken = taken;
  }

  /**
   * Adds a block: {@code size} entries of one sender, linked by {@code next}. Returns false if the
   * block does not fit.
   */
  boolean enter(QueueEntry<E> block, int size) {
    while (true) {
      var previousNewest = newest;
      long number = previousNewest == null ? 0 : previousNewest.number;
      if (number + size > maxNumber && !hasSpace(number + size)) {
        block.previous = null; // clears the link of an earlier attempt
        return false;
      }
      var lastEntry = previousNewest;
      for (var entry = block; entry != null; entry = entry.next) {
        entry.previous = lastEntry;
        entry.number = ++number;
        lastEntry = entry;
      }
      if (NEWEST.compareAndSet(this, previousNewest, lastEntry)) return true;
    }
  }

  /**
   * Returns whether the entry with this number fits, and updates {@code maxNumber}. Called only if
   * the number is above {@code maxNumber}, because a read of the departed count, which the
   * taker writes at each message, is slow.
   */
  private boolean hasSpace(long number) {
    long newMaxNumber = taken.departed() + capacity;
    if (number > newMaxNumber) return false;
    maxNumber = newMaxNumber;
    return true;
  }

  /**
   * Spins until {@code size} entries fit, for a limited time, and only as long as the taker makes
   * progress. Returns whether the entries fit.
   */
  boolean awaitSpace(int size) {
    return spaceSpin.mayStart() && spaceSpin.record(spinForSpace(size));
  }

  private boolean spinForSpace(int size) {
    long neededDepartures = arrivalCount() + size - capacity; // after so many departures the entries fit
    long wantedDepartures = neededDepartures + Math.min(WANTED_SPACE, capacity / 2);
    long departures = taken.departed();
    for (int checks = 0, stalledChecks = 0;
        checks < MAX_CHECKS && stalledChecks < MAX_STALLED_CHECKS && departures < wantedDepartures;
        checks++, stalledChecks++) {
      // pauses between checks, because each check takes the cache line from the taker
      for (int i = 0; i < PAUSES_PER_CHECK; i++) Thread.onSpinWait();
      long newDepartures = taken.departed();
      if (newDepartures != departures) stalledChecks = 0;
      departures = newDepartures;
    }
    return departures >= neededDepartures;
  }

  boolean awaitNew() {
    return arrivalSpin.mayStart() && arrivalSpin.record(spinForNew());
  }

  private boolean spinForNew() {
    for (int checks = 0; checks < MAX_CHECKS && !hasNew(); checks++) Thread.onSpinWait();
    return hasNew();
  }

  /**
   * Returns whether entries have come that are not collected. For a caller without the monitor, the
   * result is only a hint.
   */
  boolean hasNew() {
    return newest != lastCollected;
  }

  /**
   * Moves all arrivals to the end of the chain, and returns their number. Calls no method, so no
   * StackOverflowError can leave the move half done.
   */
  int moveTo(EntryChain<E> chain) {
    int count = 0;
    var lastEntry = newest;
    var firstEntry = (QueueEntry<E>) null;
    for (var entry = lastEntry; entry != lastCollected; count++) {
      entry.isCounted = true;
      // senders set the state of only the first entry of a block
      if (entry.state != QueueEntry.QUEUE) entry.state = QueueEntry.QUEUE;
      entry.next = firstEntry;
      firstEntry = entry;
      entry = entry.previous;
    }
    if (count == 0) return 0;
    firstEntry.previous = chain.tail;
    if (chain.tail == null) chain.head = firstEntry;
    else chain.tail.next = firstEntry;
    chain.tail = lastEntry;
    lastCollected = lastEntry;
    return count;
  }

  int count() {
    return (int) (arrivalCount() - taken.departed());
  }

  private long arrivalCount() {
    var last = newest;
    return last == null ? 0 : last.number;
  }
}
