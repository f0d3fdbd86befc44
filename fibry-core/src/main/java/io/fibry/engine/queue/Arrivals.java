package io.fibry.engine.queue;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The way into a queue that keeps its places in the order in which they come: senders enter without
 * its monitor, whoever holds the monitor takes them over.
 *
 * <p>One compare-and-set of {@link #newest} does it all: each place knows its number, so the newest
 * knows how many ever came, and less those that have left, that is how many are there. It links to
 * the one that came before it, up to the one that was taken over last. A place is used once and the
 * newest one stays, so what is found unchanged was unchanged all the time.
 */
final class Arrivals<E> {
  private static final int CHECKS = 64;
  private static final int STALLED_CHECKS = 8; // looks at a taker who does not go on
  private static final int PAUSES = 8; // before each look at him
  // places; or a sender who finds one fills it, and is where he was
  private static final int BATCH = 32;
  private static final VarHandle NEWEST =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "newest", VarHandle.class, Arrivals.class, Entry.class);
  private static final VarHandle DEPARTED =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "departed", VarHandle.class, Arrivals.class,
          long.class);

  private final int capacity;
  private volatile Entry<E> newest; // null: none came yet
  // so many may have come, as far as senders know: too low at times, never too high; written by
  // senders
  private volatile long bound;
  private Entry<E> collected; // the newest that was taken over; guarded by the queue
  private volatile long departed; // how many of those that came are gone; written under the monitor
  private final AdaptiveSpin roomSpin = new AdaptiveSpin(); // of senders
  private final AdaptiveSpin arrivalSpin = new AdaptiveSpin(); // of who has the right to run

  Arrivals(int capacity) {
    this.capacity = capacity;
  }

  /** Lets a block in, if there is room for all of it. */
  boolean enter(Entry<E> block, int size) {
    while (true) {
      var before = newest;
      long number = before == null ? 0 : before.number;
      if (number + size > bound && !hasRoom(number + size)) {
        block.before = null; // of an attempt before
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

  /** Senders look how many have left only where they must: the taker writes it at every message. */
  private boolean hasRoom(long numbers) {
    long now = departed + capacity;
    if (numbers > now) return false;
    bound = now;
    return true;
  }

  /**
   * Full: looks on for a moment, as long as the taker goes on, until there is room for some. False:
   * there is none.
   */
  boolean awaitRoom(int size) {
    return roomSpin.isWorthwhile() && roomSpin.record(spinForRoom(size));
  }

  private boolean spinForRoom(int size) {
    long needed = arrived() + size - capacity; // so many must have left
    long batch = needed + Math.min(BATCH, capacity / 2);
    long seen = departed;
    for (int checks = 0, stalled = 0; checks < CHECKS && stalled < STALLED_CHECKS && seen < batch;
        checks++, stalled++) {
      // each look takes from the taker what he writes at every message
      for (int i = 0; i < PAUSES; i++) Thread.onSpinWait();
      long now = departed;
      if (now != seen) stalled = 0;
      seen = now;
    }
    return seen >= needed;
  }

  /** Empty: looks on for a moment, until something comes. */
  boolean awaitNew() {
    return arrivalSpin.isWorthwhile() && arrivalSpin.record(spinForNew());
  }

  private boolean spinForNew() {
    for (int checks = 0; checks < CHECKS && !hasNew(); checks++) Thread.onSpinWait();
    return hasNew();
  }

  /** Whether something was not taken over yet. */
  boolean hasNew() {
    return newest != collected;
  }

  /**
   * Takes over what came, to the end of the chain; answers how many. It calls nothing, so that no
   * StackOverflowError of whoever only looks at a queue leaves it half done.
   */
  int moveTo(EntryChain<E> chain) {
    int moved = 0;
    var last = newest;
    var first = (Entry<E>) null;
    for (var entry = last; entry != collected; moved++) {
      entry.counted = true;
      if (entry.where != Entry.QUEUE) entry.where = Entry.QUEUE;
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

  /** One that came is gone. */
  void depart() {
    DEPARTED.setRelease(this, departed + 1);
  }

  /** How many are there; under the monitor, by which they leave. */
  int count() {
    return (int) (arrived() - departed);
  }

  private long arrived() {
    var last = newest;
    return last == null ? 0 : last.number;
  }
}
