package io.fibry.engine.queue;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Where one element of a {@link GuardedQueue} stands; used once. Made by the engine alone.
 *
 * <p>It is small, as it goes from the sender's processor to the taker's: what only some queues ask
 * of it, {@link RankedEntry} has.
 *
 * @param <E> what waits
 */
public class Entry<E> {
  // OUTSIDE -> (LINE ->) QUEUE -> GONE, or LINE -> OUTSIDE; under the monitor, and by its sender
  // before it enters an inbox. What found no room there is OUTSIDE again, and so is what was taken
  // out since it came too late
  static final byte OUTSIDE = 0;
  static final byte BLOCKED = 1;
  static final byte QUEUE = 2;
  static final byte GONE = 3;
  static final long ENTERING = -1;
  private static final VarHandle WHERE =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "where", VarHandle.class, Entry.class, byte.class);

  static {
    // linked now, and not under a monitor at the edge of somebody's stack
    new Entry<>(null, true).goTo(OUTSIDE);
  }

  final boolean pill;
  boolean counted; // against the capacity; guarded by the queue
  volatile byte where;
  // in an inbox: how many came up to it; COMING, then written before it enters; 0 for what never
  // came through one: it was admitted, or put back. Else as Ranked says
  long number;
  E item; // null once it is gone; guarded by the queue
  // in the inbox: what came before it, written before it enters; then guarded by the queue
  Entry<E> before;
  Entry<E> after; // the next of its block, set before it is offered; then guarded by the queue
  Thread sender; // who stands in the line with it; set before `where` says LINE

  Entry(E item, boolean pill) {
    this.item = item;
    this.pill = pill;
  }

  /**
   * A place in the order in which it comes.
   *
   * @param <E> what waits
   * @param item what waits
   * @return a place
   */
  static <E> Entry<E> of(E item) {
    return new Entry<>(item, false);
  }

  /**
   * The first place of a block that is taken whole or not at all.
   *
   * @param <E> what waits
   * @param entries at least one
   * @return the first one
   */
  public static <E> Entry<E> block(List<Entry<E>> entries) {
    for (int i = 1; i < entries.size(); i++) entries.get(i - 1).after = entries.get(i);
    return entries.getFirst();
  }

  /** Of the block that begins here; before it is let in. */
  final int size() {
    int size = 1;
    for (var next = after; next != null; next = next.after) size++;
    return size;
  }

  /** A release is enough, but where somebody is woken to see it: that takes a fence more. */
  final void goTo(byte entry) {
    WHERE.setRelease(this, entry);
  }

  /** {@return whether it stands in the line of blocked senders} */
  public boolean isBlocked() {
    return where == BLOCKED;
  }

  /** {@return whether it was not let in, or not yet} */
  public boolean isOutside() {
    return where == OUTSIDE;
  }

  /** {@return whether it was taken out} */
  public boolean isGone() {
    return where == GONE;
  }

  /** What waits here; of a letter, this makes it. */
  E item(BiFunction<Object, Object, E> toElement) {
    return item;
  }

  /** It is gone, and holds nothing any more. */
  void forget() {
    item = null;
  }

  boolean isTask() {
    return false;
  }

  boolean mayBeDropped() {
    return false;
  }

  /**
   * {@return how long it would have waited, in nanoseconds, where it was refused for that; else 0;
   * for the one who offered it}
   */
  public long foreseen() {
    return 0;
  }

  /**
   * What was dropped to make room for this; told once, or each would keep the one before it.
   *
   * @return the oldest first
   */
  public List<E> takeDropped() {
    return List.of();
  }
}
