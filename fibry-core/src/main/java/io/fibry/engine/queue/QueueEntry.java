package io.fibry.engine.queue;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.BiFunction;

/**
 * An element of a {@link GuardedQueue}, and where it is. Used once. Small, because it travels
 * between processors: fields that only some queues need are in {@link RankedEntry}. Guarded by the
 * queue.
 */
public class QueueEntry<E> {
  // OUTSIDE -> (BLOCKED ->) QUEUE -> GONE, or BLOCKED -> OUTSIDE: under the monitor. With arrivals,
  // its sender sets QUEUE before it tries to enter, and OUTSIDE after that failed; an entry that
  // entered too late goes from GONE to OUTSIDE
  static final byte OUTSIDE = 0;
  static final byte BLOCKED = 1;
  static final byte QUEUE = 2;
  static final byte GONE = 3;
  static final long ENTERING = -1;
  private static final VarHandle WHERE =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "where", VarHandle.class, QueueEntry.class, byte.class);

  static {
    // links the code now, not under a monitor at the edge of a stack
    new QueueEntry<>(null, true).goTo(OUTSIDE);
  }

  final boolean pill;
  boolean counted; // against the capacity
  volatile byte where;
  // With arrivals it is ENTERING, then the number of the entry, written before it enters; it is 0
  // if the entry was admitted or put back. For other queues see RankedEntry
  long number;
  E item; // null once the entry is gone
  // Both neighbors are written before the entry enters the arrivals, or by the queue
  QueueEntry<E> before;
  QueueEntry<E> after; // in a block, written before the offer
  Thread sender; // set before `where` says BLOCKED

  QueueEntry(E item, boolean pill) {
    this.item = item;
    this.pill = pill;
  }

  static <E> QueueEntry<E> of(E item) {
    return new QueueEntry<>(item, false);
  }

  /** A block is taken whole or not at all. */
  public static <E> QueueEntry<E> block(List<QueueEntry<E>> entries) {
    for (int i = 1; i < entries.size(); i++) entries.get(i - 1).after = entries.get(i);
    return entries.getFirst();
  }

  final int size() {
    int size = 1;
    for (var next = after; next != null; next = next.after) size++;
    return size;
  }

  /** A release is enough; {@link BlockedSenders#wake} adds a fence. */
  final void goTo(byte place) {
    WHERE.setRelease(this, place);
  }

  public boolean isBlocked() {
    return where == BLOCKED;
  }

  /** Whether it was refused, or has not been admitted yet. */
  public boolean isOutside() {
    return where == OUTSIDE;
  }

  public boolean isGone() {
    return where == GONE;
  }

  /** With arrivals, an entry that is neither counted nor admitted is still entering. */
  boolean hasEntered() {
    return counted || number == 0;
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

  /** The wait in nanoseconds for which it was refused, or 0. */
  public long refusedWaitNanos() {
    return 0;
  }

  /**
   * Returns the entries that were dropped to make room for this entry, oldest first. Cleared, or
   * each would keep the one before it alive.
   */
  public List<E> takeDropped() {
    return List.of();
  }
}
