package io.fibry.engine.queue;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.BiFunction;

/**
 * An element of a {@link GuardedQueue}, and its state. An entry is used once. An entry is small,
 * because the sender's and the taker's processor must exchange its memory. Fields that only some
 * queues need are in {@link RankedEntry}. Guarded by the queue's monitor.
 */
public class QueueEntry<E> {
  // OUTSIDE -> (BLOCKED ->) QUEUE -> (TAKEN ->) GONE, or BLOCKED -> OUTSIDE; changed under the
  // monitor, with two exceptions. With an ArrivalBuffer, the sender sets QUEUE before it tries to
  // enter, and OUTSIDE if the entry does not fit. When the drain begins a message of TakenMessages,
  // it changes TAKEN to GONE. An entry that is withdrawn after it has entered also goes from GONE
  // to OUTSIDE
  static final byte OUTSIDE = 0;
  static final byte BLOCKED = 1;
  static final byte QUEUE = 2;
  static final byte GONE = 3;
  static final byte TAKEN = 4;
  static final long ENTERING = -1;
  private static final VarHandle STATE =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "state", VarHandle.class, QueueEntry.class, byte.class);

  static {
    // links the code now, because a thread with little stack left could not link it under the
    // monitor
    new QueueEntry<>(null, true).setState(OUTSIDE);
  }

  final boolean isPill;
  boolean isCounted; // whether the entry counts against the capacity
  volatile byte state;
  // With an ArrivalBuffer, first ENTERING, then the number of the entry, written before the entry
  // enters. If the entry was admitted or put back, 0. For other queues see RankedEntry
  long number;
  E item; // null once the entry has departed
  // The neighbors in the queue: written by the sender before the entry enters the ArrivalBuffer, or
  // under the monitor
  QueueEntry<E> previous;
  QueueEntry<E> next; // in a block, written before the offer
  Thread sender; // the thread of a blocked sender; set before `state` becomes BLOCKED

  QueueEntry(E item, boolean isPill) {
    this.item = item;
    this.isPill = isPill;
  }

  static <E> QueueEntry<E> of(E item) {
    return new QueueEntry<>(item, false);
  }

  /**
   * Links the entries to a block, which enters the queue completely or not at all. Returns the
   * first entry.
   */
  public static <E> QueueEntry<E> block(List<QueueEntry<E>> entries) {
    for (int i = 1; i < entries.size(); i++) entries.get(i - 1).next = entries.get(i);
    return entries.getFirst();
  }

  final int size() {
    int size = 1;
    for (var nextEntry = next; nextEntry != null; nextEntry = nextEntry.next) size++;
    return size;
  }

  /**
   * Changes the state. A release write is enough, because {@link BlockedSenders#wake} adds a fence.
   */
  final void setState(byte newState) {
    STATE.setRelease(this, newState);
  }

  final void setGone() {
    setState(GONE);
  }

  public boolean isBlocked() {
    return state == BLOCKED;
  }

  /** Returns whether the entry was refused, or has not been let in yet. */
  public boolean isOutside() {
    return state == OUTSIDE;
  }

  public boolean isGone() {
    return state == GONE;
  }

  /** Returns whether the entry waits in the queue, or the drain has taken but not begun it. */
  public boolean isQueued() {
    byte currentState = state;
    return currentState == QUEUE || currentState == TAKEN;
  }

  /**
   * Returns whether the entry has entered. With an ArrivalBuffer, an entry that is neither counted
   * nor admitted is still entering.
   */
  boolean hasEntered() {
    return isCounted || number == 0;
  }

  /** Returns null for a {@link MessageEntry}, and once the entry has departed. */
  public final E itemOrNull() {
    return item;
  }

  E item(BiFunction<Object, Object, E> toElement) {
    return item;
  }

  void clear() {
    item = null;
  }

  boolean isTask() {
    return false;
  }

  boolean mayBeDropped() {
    return false;
  }

  /** Returns the expected wait in nanoseconds because of which the entry was refused, or 0. */
  public long refusedWaitNanos() {
    return 0;
  }

  /**
   * Returns the elements that were dropped to make space for this entry, oldest first, and clears
   * the list. Otherwise the entry would keep the dropped elements in memory.
   */
  public List<E> takeDropped() {
    return List.of();
  }
}
