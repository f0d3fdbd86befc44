package io.fibry.mailbox;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * In which order what waits is taken: what has no rank as it came, then by rank. Guarded by its
 * queue.
 */
final class Order<E> {
  final Chain<E> chain = new Chain<>(); // all that has no rank
  private final TreeSet<Ranked<E>> ranked; // null: nothing has
  private long epoch;
  private long numbers;

  @SuppressWarnings("unchecked") // only messages that the mailbox can hold reach the comparator
  Order(Mailbox<?> kind) {
    var ranks = (Comparator<Object>) kind.order().orElse(null);
    this.ranked = ranks == null ? null : new TreeSet<>((a, b) -> a.compareTo(b, ranks));
  }

  void add(Place<E> place) {
    if (ranked == null || place.isTask()) {
      chain.add(place);
      return;
    }
    var one = (Ranked<E>) place;
    one.epoch = epoch;
    one.number = numbers++;
    ranked.add(one); // a comparator that throws does so before anything has changed
    if (one.pill) epoch++;
  }

  /** What comes next; null: nothing waits. */
  Place<E> first() {
    return chain.head != null || ranked == null || ranked.isEmpty() ? chain.head : ranked.first();
  }

  void remove(Place<E> place) {
    if (chain.has(place)) chain.remove(place);
    // asks no comparator: the drain must not fail
    else if (ranked.first() == place) ranked.pollFirst();
    else ranked.remove((Ranked<E>) place);
  }

  /** The first so many. */
  List<Place<E>> places(int most) {
    var all = new ArrayList<Place<E>>();
    for (var place = chain.head; place != null && all.size() < most; place = place.after) all.add(place);
    if (ranked != null) ranked.stream().limit(most - all.size()).forEach(all::add);
    return all;
  }

  /** As they would be taken, without those that are gone. */
  void sort(List<Place<E>> places) {
    if (ranked == null) return;
    places.removeIf(place -> place.where != Place.QUEUE);
    places.sort((a, b) -> ranked.comparator().compare((Ranked<E>) a, (Ranked<E>) b));
  }
}
