package io.fibry.engine.queue;

import java.util.Comparator;
import java.util.List;

/** An entry with the fields of queues that do more than keep the order. Guarded by the queue. */
public class RankedEntry<E> extends QueueEntry<E> {
  Object rank; // the message, for the comparator; null for a task, or once the entry is gone
  // The number of pills before it; with a forecast, when it came, or the wait for which it was
  // refused
  long epoch;
  boolean timed; // `epoch` says when it came
  List<E> dropped = List.of(); // for its sender
  // `number`: order among equal ranks. With a forecast: departures when it came

  RankedEntry(E item, Object rank, boolean pill) {
    super(item, pill);
    this.rank = rank;
  }

  static <E> QueueEntry<E> of(E item, Object message) {
    return new RankedEntry<>(item, message, false);
  }

  /** Before all messages. */
  public static <E> QueueEntry<E> unranked(E item) {
    return new RankedEntry<>(item, null, false);
  }

  /** A pill: behind all that waits. */
  public static <E> QueueEntry<E> last(E item) {
    return new RankedEntry<>(item, null, true);
  }

  /** Runs often, so not made of comparators. */
  final int compareTo(RankedEntry<E> other, Comparator<Object> order) {
    if (epoch != other.epoch) return Long.compare(epoch, other.epoch);
    if (pill != other.pill) return pill ? 1 : -1;
    int ranks = pill ? 0 : order.compare(rank, other.rank);
    return ranks != 0 ? ranks : Long.compare(number, other.number);
  }

  @Override
  void clear() {
    super.clear();
    rank = null;
  }

  /** Must not be called once the entry is gone. */
  @Override
  boolean isTask() {
    return rank == null && !pill;
  }

  @Override
  boolean mayBeDropped() {
    return counted && rank != null;
  }

  @Override
  public long refusedWaitNanos() {
    return where == OUTSIDE ? epoch : 0;
  }

  @Override
  public List<E> takeDropped() {
    var told = dropped;
    dropped = List.of();
    return told;
  }
}
