package io.fibry.mailbox;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Comparator;
import java.util.List;

/**
 * Where one element of a {@link GuardedQueue} stands; used once. Made by the engine alone.
 *
 * @param <E> what waits
 */
public sealed class Place<E> permits Share {
  enum Where { OUTSIDE, LINE, QUEUE, GONE }

  private static final VarHandle WHERE;

  static {
    try {
      WHERE = MethodHandles.lookup().findVarHandle(Place.class, "where", Where.class);
      new Place<>(null, null, true).goTo(Where.OUTSIDE); // linked now, and not under a monitor at the edge of somebody's stack
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  final boolean pill;
  E item; // null once it is gone; guarded by the queue
  Object rank; // what the comparator sees; null for a task, and once it is gone; guarded by the queue
  long epoch; // how many pills came before; where the pace matters: when it came, or how long it would have waited; guarded by the queue
  long number; // in which order those of equal rank came; where the pace matters: how many had left by then; both guarded by the queue. In the inbox: how many came up to it; written before it enters
  boolean timed; // it is known when it came; guarded by the queue
  boolean counted; // against the capacity; guarded by the queue
  Place<E> before; // guarded by the queue
  Place<E> after; // guarded by the queue
  Place<E> next; // the next of a block; set before it is offered
  Place<E> older; // the one before it in the inbox; written before it enters, null once it was taken over
  int size = 1; // of the block that begins here; set before it is offered
  List<E> dropped = List.of(); // what made room for it; set by the one who offers
  Thread sender; // who stands in the line with it; set before `where` says LINE
  volatile Where where = Where.OUTSIDE; // OUTSIDE -> (LINE ->) QUEUE -> GONE, or LINE -> OUTSIDE; written under the monitor, and by its sender before it enters an inbox. What came too late is OUTSIDE again

  Place(E item, Object rank, boolean pill) {
    this.item = item;
    this.rank = rank;
    this.pill = pill;
  }

  /**
   * A place for a message.
   *
   * @param <E> what waits
   * @param item what waits
   * @param message what the order compares
   * @return a place
   */
  public static <E> Place<E> of(E item, Object message) {
    return new Place<>(item, message, false);
  }

  /**
   * A place for something that has no rank: before all messages of a priority mailbox.
   *
   * @param <E> what waits
   * @param item what waits
   * @return a place
   */
  public static <E> Place<E> unranked(E item) {
    return new Place<>(item, null, false);
  }

  /**
   * A place behind all that waits when it is admitted, whatever its rank.
   *
   * @param <E> what waits
   * @param item what waits
   * @return a place
   */
  public static <E> Place<E> last(E item) {
    return new Place<>(item, null, true);
  }

  /**
   * The first place of a block that is taken whole or not at all.
   *
   * @param <E> what waits
   * @param places at least one
   * @return the first one
   */
  public static <E> Place<E> block(List<Place<E>> places) {
    for (int i = 1; i < places.size(); i++) places.get(i - 1).next = places.get(i);
    places.getFirst().size = places.size();
    return places.getFirst();
  }

  /** A release is enough, but where somebody is woken to see it: that takes a fence more. */
  final void goTo(Where place) {
    WHERE.setRelease(this, place);
  }

  /** {@return whether it stands in the line of blocked senders} */
  public boolean inLine() {
    return where == Where.LINE;
  }

  /** {@return whether it was not let in, or not yet} */
  public boolean isOutside() {
    return where == Where.OUTSIDE;
  }

  /** {@return whether it was taken out} */
  public boolean isGone() {
    return where == Where.GONE;
  }

  /** In which order they are taken; a pill comes after all that came before it. Asked many times for each message, so not put together of comparators. */
  final int compareTo(Place<E> other, Comparator<Object> order) {
    if (epoch != other.epoch) return Long.compare(epoch, other.epoch);
    if (pill != other.pill) return pill ? 1 : -1;
    int ranks = pill ? 0 : order.compare(rank, other.rank);
    return ranks != 0 ? ranks : Long.compare(number, other.number);
  }

  /** Until it is gone. */
  boolean isTask() {
    return rank == null && !pill;
  }

  boolean mayBeDropped() {
    return counted && rank != null;
  }

  /** {@return how long it would have waited, in nanoseconds, where it was refused for that; else 0; for the one who offered it} */
  public long foreseen() {
    return where == Where.OUTSIDE ? epoch : 0;
  }

  /**
   * What was dropped to make room for this; told once, or each would keep the one before it.
   *
   * @return the oldest first
   */
  public List<E> takeDropped() {
    var told = dropped;
    dropped = List.of();
    return told;
  }
}
