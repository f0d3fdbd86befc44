package io.fibry.carriers;

import io.fibry.engine.carrier.CarriedDrain;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The entries that wait for one carrier, oldest first. The carrier that owns the queue adds
 * entries; the owner and other carriers (thieves) take them.
 *
 * <p><b>States.</b> Entries have indices, which count up and wrap around. The entries with indices
 * from {@code head} to {@code tail - 1} wait, each in the slot of its index modulo the capacity.
 *
 * <p><b>Transitions.</b>
 *
 * <pre>
 *   add    owner   slot[tail] = entry, then tail = tail + 1
 *   take   anyone  read head, tail and slot[head], then CAS(head, head + 1)
 *   clean  owner   slot[i] = null for taken indices i
 * </pre>
 *
 * An entry is taken once, because {@code head} passes its index once. A thief that reads a slot too
 * late finds null or another entry, but then {@code head} has changed and its compare-and-set
 * fails. An index repeats after four billion entries, and no thief is suspended for so long.
 *
 * <p><b>Memory order.</b> The volatile write of {@code tail} publishes the entry in its slot. It
 * also orders the entry before the owner's next read of {@link CarrierWatch}'s state.
 *
 * <p><b>Cleaning.</b> A taken entry must not stay in memory, because it refers to an actor or a
 * stack. The owner clears the slots of entries that it takes itself. A thief must not write to a
 * slot, because the owner may already have added an entry there. So the owner clears the slots of
 * stolen entries when it runs out of work. Such a slot cannot have a newer entry: of the taken
 * indices, only those at most a capacity below {@code tail} are cleared.
 *
 * <p><b>Rejected designs.</b> A thief that clears its slot by compare-and-set. If the same
 * continuation was added to the slot again, the thief could clear it before it is taken. A deque
 * whose owner takes at the tail: the owner's newest work would starve the oldest.
 */
final class RunQueue {
  static final int CAPACITY = 512; // a power of two
  private static final int MASK = CAPACITY - 1;
  private static final int MAX_NEAR = 4; // more near entries are enough work for another carrier
  private static final VarHandle HEAD = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "head",
      VarHandle.class, RunQueue.class, int.class);
  private static final VarHandle ENTRIES = ConstantBootstraps.arrayVarHandle(MethodHandles.lookup(), "entries",
      VarHandle.class, Runnable[].class);

  private final @Nullable Runnable[] entries = new Runnable[CAPACITY]; // written by the owner
  private volatile int head; // the index of the next entry to take; advanced by all carriers
  private volatile int tail; // the index of the next entry to add; written by the owner
  private int cleaned; // the slots of all lower indices are cleared; used by the owner

  // ---- the owner

  /** Adds an entry. Returns false if the queue is full. */
  boolean add(Runnable entry) {
    int index = tail;
    if (index - head == CAPACITY) return false;
    ENTRIES.setRelease(entries, index & MASK, entry);
    tail = index + 1;
    return true;
  }

  /** Takes the oldest entry, or returns null. */
  @Nullable
  Runnable takeOwn() {
    while (true) {
      int index = head;
      if (index == tail) return null;
      var entry = (Runnable) ENTRIES.getAcquire(entries, index & MASK);
      if (takeIndex(index)) return clear(index, entry);
    }
  }

  /** Takes the oldest entry if it is a drain; otherwise returns null. */
  @Nullable
  CarriedDrain takeOwnDrain() {
    while (true) {
      int index = head;
      if (index == tail) return null;
      var entry = (Runnable) ENTRIES.getAcquire(entries, index & MASK);
      // also if the entry was just stolen; the carrier's loop then takes the next entry
      if (!(entry instanceof CarriedDrain drain)) return null;
      if (takeIndex(index)) return clear(index, drain);
    }
  }

  private <T> T clear(int index, T entry) {
    entries[index & MASK] = null;
    return entry;
  }

  /** Clears the slots of stolen entries. */
  void clean() {
    int end = head;
    int start = cleaned - (tail - CAPACITY) > 0 ? cleaned : tail - CAPACITY;
    for (int index = start; index - end < 0; index++) entries[index & MASK] = null;
    cleaned = end;
  }

  // ---- all carriers

  private boolean takeIndex(int index) {
    return HEAD.compareAndSet(this, index, index + 1);
  }

  /** Takes the oldest entry, or returns null. */
  @Nullable
  Runnable steal() {
    while (true) {
      int index = head;
      if (index == tail) return null;
      var entry = (Runnable) ENTRIES.getAcquire(entries, index & MASK);
      if (takeIndex(index)) return entry;
    }
  }

  /** Returns at most the capacity, even if other carriers take entries during the call. */
  int size() {
    int first = head; // first, so that the difference is not negative
    return Math.min(tail - first, CAPACITY);
  }

  boolean isEmpty() {
    return head == tail;
  }

  /**
   * Returns whether the queue has a few entries, which should all run on this carrier. The queue
   * may change during the call.
   */
  boolean hasOnlyNearEntries() {
    int first = head;
    int end = tail;
    if (first == end || end - first > MAX_NEAR) return false;
    for (int index = first; index != end; index++) {
      var entry = (Runnable) ENTRIES.getAcquire(entries, index & MASK);
      if (!(entry instanceof NearContinuation || entry instanceof CarriedDrain drain && drain.isNear())) return false;
    }
    return true;
  }

  /** Returns the index of the oldest entry. It changes whenever an entry is taken. */
  int headIndex() {
    return head;
  }
}
