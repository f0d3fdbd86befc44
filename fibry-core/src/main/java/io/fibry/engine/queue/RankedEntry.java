package io.fibry.engine.queue;

import java.util.Comparator;
import java.util.List;

/**
 * An entry with the fields of queues that rank messages, drop messages, or estimate waits. Guarded
 * by the queue's monitor.
 */
public class RankedEntry<E> extends QueueEntry<E> {
  Object message; // the message, for the comparator; null for a task, or once the entry has departed
  // The number of pills before the entry. With a WaitEstimator: the time when the entry came, or
  // the expected wait because of which it was refused, in nanoseconds
  long epoch;
  boolean isTimed; // whether `epoch` is the time when the entry came
  List<E> droppedElements = List.of(); // elements that were dropped for this entry; its sender disposes of them
  // The inherited `number` is the order among equal ranks. With a WaitEstimator: the number of
  // departures when the entry came

  RankedEntry(E item, Object message, boolean isPill) {
    super(item, isPill);
    this.message = message;
  }

  static <E> QueueEntry<E> of(E item, Object message) {
    return new RankedEntry<>(item, message, false);
  }

  /** Makes an entry that is taken before all ranked messages. */
  public static <E> QueueEntry<E> unranked(E item) {
    return new RankedEntry<>(item, null, false);
  }

  /** Makes the entry of a pill, which is taken after all entries that wait. */
  public static <E> QueueEntry<E> ofPill(E item) {
    return new RankedEntry<>(item, null, true);
  }

  /**
   * Compares by epoch, rank and number. A pill comes after the messages of its epoch. Runs often,
   * so it is not composed of comparators.
   */
  final int compareTo(RankedEntry<E> other, Comparator<Object> order) {
    if (epoch != other.epoch) return Long.compare(epoch, other.epoch);
    if (isPill != other.isPill) return isPill ? 1 : -1;
    int comparison = isPill ? 0 : order.compare(message, other.message);
    return comparison != 0 ? comparison : Long.compare(number, other.number);
  }

  @Override
  void clear() {
    super.clear();
    message = null;
  }

  /** Must not be called once the entry has departed, because its message is then null. */
  @Override
  boolean isTask() {
    return message == null && !isPill;
  }

  @Override
  boolean mayBeDropped() {
    return isCounted && message != null;
  }

  @Override
  public long refusedWaitNanos() {
    return state == OUTSIDE ? epoch : 0;
  }

  @Override
  public List<E> takeDropped() {
    var elements = droppedElements;
    droppedElements = List.of();
    return elements;
  }
}
