package io.fibry.engine.queue;

import java.util.List;

/**
 * Who must go on for something that stands in a {@link SharedQueue}, or is being handled: among
 * these workers, so many that those who never go on hold no more than so many permits, and are not
 * more than so many. Made by the queue alone, for who looks for a ring.
 *
 * @param <E> what waits
 * @param slots where they sit; null: all
 * @param permits if those who never go on hold more than this, it never ends
 * @param workers likewise, if they are more than this
 */
public record Blockers<E>(List<WorkerSlot<E>> slots, int permits, int workers) {
  /**
   * Any of these, and be it one.
   *
   * @param slots where they sit
   */
  public Blockers(List<WorkerSlot<E>> slots) {
    this(slots, Integer.MAX_VALUE, 0);
  }

  /** Null: nobody, or it cannot be told. Under the monitor. */
  static <E> Blockers<E> of(SharedQueue<E> queue, PoolEntry<E> pooled) {
    if (pooled.isGone()) return pooled.slot == null ? null : new Blockers<>(List.of(pooled.slot));
    if (pooled.isOutside() || queue.over || queue.pillIsNext()) return null;
    // whatever else happens, it comes after that one
    if (!pooled.isBlocked() && pooled.lane != null && pooled.lane.first.slot != null)
      return new Blockers<>(List.of(pooled.lane.first.slot));
    var fronts = queue.lanes == null ? List.<WorkerSlot<E>>of() : queue.lanes.fronts();
    // behind the pill, whose turn comes when all lanes are empty
    if (!fronts.isEmpty() && !pooled.isBlocked() && pooled.lane == null) return new Blockers<>(fronts);
    // all that can be begun waits in lanes
    if (!(queue.first() instanceof PoolEntry)) return new Blockers<>(fronts, Integer.MAX_VALUE, fronts.size() - 1);
    return new Blockers<>(null, queue.sharing().permits() - heaviest(queue, pooled), queue.sharing().most() - 1);
  }

  /**
   * Of what is begun before this one, and of itself; for a sender in the line, of what is begun
   * next: should another one hold him up after that, he is woken, and looks again.
   */
  private static <E> int heaviest(SharedQueue<E> queue, PoolEntry<E> last) {
    if (queue.sharing().weight().isEmpty()) return 1;
    int heaviest = 0;
    for (var entry : queue.order.entries(Integer.MAX_VALUE)) {
      if (entry instanceof PoolEntry<E> pooled) heaviest = Math.max(heaviest, pooled.weight);
      if (entry == last || entry.pill || last.isBlocked()) break;
    }
    return heaviest;
  }
}
