package io.fibry.engine.queue;

import java.util.Comparator;
import java.util.List;

/**
 * A place in a queue that does more than keep the order in which messages come. All fields are
 * guarded by the queue, where not said otherwise.
 *
 * @param <E> what waits
 */
public class RankedEntry<E> extends Entry<E> {
  Object rank; // what the comparator sees; null for a task, and once it is gone
  // how many pills came before. Where the pace matters: when it came, or how long it would have
  // waited
  long epoch;
  boolean timed; // it is known when it came
  private List<E> dropped = List.of(); // what made room for it; set by the one who offers
  // `number`: in which order those of equal rank came. Where the pace matters: how many had left by
  // then

  RankedEntry(E item, Object rank, boolean pill) {
    super(item, pill);
    this.rank = rank;
  }

  static <E> Entry<E> of(E item, Object message) {
    return new RankedEntry<>(item, message, false);
  }

  /**
   * An entry for something that has no rank: before all messages of a priority mailbox.
   *
   * @param <E> what waits
   * @param item what waits
   * @return an entry
   */
  public static <E> Entry<E> unranked(E item) {
    return new RankedEntry<>(item, null, false);
  }

  /**
   * An entry behind all that waits when it is admitted, whatever its rank.
   *
   * @param <E> what waits
   * @param item what waits
   * @return an entry
   */
  public static <E> Entry<E> last(E item) {
    return new RankedEntry<>(item, null, true);
  }

  /**
   * In which order they are taken; a pill comes after all that came before it. Asked many times for
   * each message, so not put together of comparators.
   */
  final int compareTo(RankedEntry<E> other, Comparator<Object> order) {
    if (epoch != other.epoch) return Long.compare(epoch, other.epoch);
    if (pill != other.pill) return pill ? 1 : -1;
    int ranks = pill ? 0 : order.compare(rank, other.rank);
    return ranks != 0 ? ranks : Long.compare(number, other.number);
  }

  @Override
  void forget() {
    super.forget();
    rank = null;
  }

  /** Until it is gone. */
  @Override
  boolean isTask() {
    return rank == null && !pill;
  }

  @Override
  boolean mayBeDropped() {
    return counted && rank != null;
  }

  @Override
  public long foreseen() {
    return where == OUTSIDE ? epoch : 0;
  }

  void dropped(List<E> oldest) {
    dropped = oldest;
  }

  @Override
  public List<E> takeDropped() {
    var told = dropped;
    dropped = List.of();
    return told;
  }
}
