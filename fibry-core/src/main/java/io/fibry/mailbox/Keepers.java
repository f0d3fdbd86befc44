package io.fibry.mailbox;

import java.util.List;

/**
 * Who must go on for something that stands in a {@link SharedQueue}, or is being handled: among
 * these workers, so many that those who never go on hold no more than so many permits, and are not
 * more than so many. Made by the queue alone, for who looks for a ring.
 *
 * @param <E> what waits
 * @param seats where they sit; null: all
 * @param permits if those who never go on hold more than this, it never ends
 * @param workers likewise, if they are more than this
 */
public record Keepers<E>(List<Seat<E>> seats, int permits, int workers) {
  /**
   * Any of these, and be it one.
   *
   * @param seats where they sit
   */
  public Keepers(List<Seat<E>> seats) {
    this(seats, Integer.MAX_VALUE, 0);
  }

  /** Null: nobody, or it cannot be told. Under the monitor. */
  static <E> Keepers<E> of(SharedQueue<E> queue, Share<E> share) {
    if (share.isGone()) return share.seat == null ? null : new Keepers<>(List.of(share.seat));
    if (share.isOutside() || queue.over || queue.pillIsNext()) return null;
    // whatever else happens, it comes after that one
    if (!share.inLine() && share.lane != null && share.lane.first.seat != null)
      return new Keepers<>(List.of(share.lane.first.seat));
    var fronts = queue.lanes == null ? List.<Seat<E>>of() : queue.lanes.fronts();
    // behind the pill, whose turn comes when all lanes are empty
    if (!fronts.isEmpty() && !share.inLine() && share.lane == null) return new Keepers<>(fronts);
    // all that can be begun waits in lanes
    if (!(queue.first() instanceof Share)) return new Keepers<>(fronts, Integer.MAX_VALUE, fronts.size() - 1);
    return new Keepers<>(null, queue.sharing().permits() - heaviest(queue, share), queue.sharing().most() - 1);
  }

  /**
   * Of what is begun before this one, and of itself; for a sender in the line, of what is begun
   * next: should another one hold him up after that, he is woken, and looks again.
   */
  private static <E> int heaviest(SharedQueue<E> queue, Share<E> last) {
    if (queue.sharing().weight().isEmpty()) return 1;
    int heaviest = 0;
    for (var place : queue.order.places(Integer.MAX_VALUE)) {
      if (place instanceof Share<E> share) heaviest = Math.max(heaviest, share.weight);
      if (place == last || place.pill || last.inLine()) break;
    }
    return heaviest;
  }
}
