package io.fibry.engine.queue;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The way into a queue whose entries are taken as they come: senders enter without the monitor, a
 * thread that holds it collects them.
 *
 * <p>Entries are numbered: the number of the newest entry, less the number of departed entries, are
 * present. Each links to the one before, back to the last one collected. One compare-and-set of
 * {@link #newest} does it all: an entry is used once and the newest is kept, so one found unchanged
 * did not change in between.
 */
final class ArrivalBuffer<E> {
  private static final int CHECKS = 64;
  private static final int STALLED_CHECKS = 8; // without a departure
  private static final int PAUSES = 8;
  // how many free places a blocked sender waits for: a sender that took the first free place would
  // fill the queue again
  private static final int BATCH = 32;
  private static final VarHandle NEWEST =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "newest", VarHandle.class, ArrivalBuffer.class,
          QueueEntry.class);
  private static final VarHandle DEPARTED =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "departed", VarHandle.class, ArrivalBuffer.class,
          long.class);

  private final int capacity;
  private volatile QueueEntry<E> newest; // null if none has come; written by senders, read by all threads
  // The highest number with room, or less; written and read by senders
  private volatile long bound;
  private QueueEntry<E> collected; // the last one; guarded by the queue
  private volatile long departed; // written under the monitor, read by senders
  private final AdaptiveSpin roomSpin = new AdaptiveSpin();
  private final AdaptiveSpin arrivalSpin = new AdaptiveSpin();

  ArrivalBuffer(int capacity) {
    this.capacity = capacity;
  }

  boolean enter(QueueEntry<E> block, int size) {
    while (true) {
      var before = newest;
      long number = before == null ? 0 : before.number;
      if (number + size > bound && !hasRoom(number + size)) {
        block.before = null; // of an earlier attempt
        return false;
      }
      var last = before;
      for (var entry = block; entry != null; entry = entry.after) {
        entry.before = last;
        entry.number = ++number;
        last = entry;
      }
      if (NEWEST.compareAndSet(this, before, last)) return true;
    }
  }

  /** Reads {@code departed} only where it must: the taker writes it at every message. */
  private boolean hasRoom(long number) {
    long now = departed + capacity;
    if (number > now) return false;
    bound = now;
    return true;
  }

  /** Spins while the taker makes progress. */
  boolean awaitRoom(int size) {
    return roomSpin.isWorthwhile() && roomSpin.record(spinForRoom(size));
  }

  private boolean spinForRoom(int size) {
    long needed = arrived() + size - capacity; // departures
    long enough = needed + Math.min(BATCH, capacity / 2);
    long seen = departed;
    for (int checks = 0, stalled = 0; checks < CHECKS && stalled < STALLED_CHECKS && seen < enough;
        checks++, stalled++) {
      // each check takes the cache line from the taker
      for (int i = 0; i < PAUSES; i++) Thread.onSpinWait();
      long now = departed;
      if (now != seen) stalled = 0;
      seen = now;
    }
    return seen >= needed;
  }

  boolean awaitNew() {
    return arrivalSpin.isWorthwhile() && arrivalSpin.record(spinForNew());
  }

  private boolean spinForNew() {
    for (int checks = 0; checks < CHECKS && !hasNew(); checks++) Thread.onSpinWait();
    return hasNew();
  }

  /** Without the monitor, only a hint. */
  boolean hasNew() {
    return newest != collected;
  }

  /**
   * Moves all arrivals to the end of the chain; returns how many. Calls nothing, so no
   * StackOverflowError leaves it half done.
   */
  int moveTo(EntryChain<E> chain) {
    int moved = 0;
    var last = newest;
    var first = (QueueEntry<E>) null;
    for (var entry = last; entry != collected; moved++) {
      entry.counted = true;
      if (entry.where != QueueEntry.QUEUE) entry.where = QueueEntry.QUEUE; // all but the first of a block
      entry.after = first;
      first = entry;
      entry = entry.before;
    }
    if (moved == 0) return 0;
    first.before = chain.tail;
    if (chain.tail == null) chain.head = first;
    else chain.tail.after = first;
    chain.tail = last;
    collected = last;
    return moved;
  }

  void depart() {
    DEPARTED.setRelease(this, departed + 1); // one thread at a time
  }

  int count() {
    return (int) (arrived() - departed);
  }

  private long arrived() {
    var last = newest;
    return last == null ? 0 : last.number;
  }
}
