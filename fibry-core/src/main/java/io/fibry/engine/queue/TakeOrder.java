package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/** First entries without a rank, as they came, then the others by rank. Guarded by its queue. */
final class TakeOrder<E> {
  final EntryChain<E> chain = new EntryChain<>(); // without a rank
  private final TreeSet<RankedEntry<E>> ranked; // null: no ranks
  private long epoch;
  private long numbers;

  @SuppressWarnings("unchecked") // only messages that the mailbox can hold reach the comparator
  TakeOrder(Mailbox<?> mailbox) {
    var ranks = (Comparator<Object>) mailbox.order().orElse(null);
    this.ranked = ranks == null ? null : new TreeSet<>((a, b) -> a.compareTo(b, ranks));
  }

  void add(QueueEntry<E> entry) {
    if (ranked == null || entry.isTask()) {
      chain.add(entry);
      return;
    }
    var one = (RankedEntry<E>) entry;
    one.epoch = epoch;
    one.number = numbers++;
    ranked.add(one); // a comparator that throws has changed nothing yet
    if (one.pill) epoch++;
  }

  QueueEntry<E> first() {
    return chain.head != null || ranked == null || ranked.isEmpty() ? chain.head : ranked.first();
  }

  void remove(QueueEntry<E> entry) {
    if (chain.contains(entry)) chain.remove(entry);
    // the drain must not fail, so this calls no comparator
    else if (ranked.first() == entry) ranked.pollFirst();
    else ranked.remove((RankedEntry<E>) entry);
  }

  List<QueueEntry<E>> entries(int most) {
    var all = new ArrayList<QueueEntry<E>>();
    for (var entry = chain.head; entry != null && all.size() < most; entry = entry.after) all.add(entry);
    if (ranked != null) ranked.stream().limit(most - all.size()).forEach(all::add);
    return all;
  }

  /** Sorts the entries that have not gone. */
  void sort(List<QueueEntry<E>> entries) {
    if (ranked == null) return;
    entries.removeIf(entry -> entry.where != QueueEntry.QUEUE);
    entries.sort((a, b) -> ranked.comparator().compare((RankedEntry<E>) a, (RankedEntry<E>) b));
  }
}
