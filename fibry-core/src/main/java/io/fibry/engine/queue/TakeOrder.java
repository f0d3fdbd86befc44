package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * The order in which entries are taken: first the entries without a rank, in the order of their
 * arrival, then the others by rank. Guarded by the queue's monitor.
 */
final class TakeOrder<E> {
  final EntryChain<E> chain = new EntryChain<>(); // entries without a rank
  private final TreeSet<RankedEntry<E>> rankedEntries; // null: the mailbox has no ranks
  private long epoch; // number of pills so far
  private long nextNumber;

  @SuppressWarnings("unchecked") // only messages that the mailbox can hold reach the comparator
  TakeOrder(Mailbox<?> mailbox) {
    var comparator = (Comparator<Object>) mailbox.order().orElse(null);
    this.rankedEntries = comparator == null ? null : new TreeSet<>((a, b) -> a.compareTo(b, comparator));
  }

  void add(QueueEntry<E> entry) {
    if (rankedEntries == null || entry.isTask()) {
      chain.add(entry);
      return;
    }
    var rankedEntry = (RankedEntry<E>) entry;
    rankedEntry.epoch = epoch;
    rankedEntry.number = nextNumber++;
    rankedEntries.add(rankedEntry); // if the comparator throws, the entry is not added
    if (rankedEntry.isPill) epoch++;
  }

  QueueEntry<E> first() {
    return chain.head != null || rankedEntries == null || rankedEntries.isEmpty() ? chain.head : rankedEntries.first();
  }

  /** Returns the last entry that is no pill, or null. */
  QueueEntry<E> lastMessage() {
    if (rankedEntries != null) for (var entry : rankedEntries.descendingSet()) if (!entry.isPill) return entry;
    var entry = chain.tail;
    while (entry != null && entry.isPill) entry = entry.previous;
    return entry;
  }

  void remove(QueueEntry<E> entry) {
    if (chain.contains(entry)) chain.remove(entry);
    // pollFirst does not call the comparator, which might throw and make the drain fail
    else if (rankedEntries.first() == entry) rankedEntries.pollFirst();
    else rankedEntries.remove((RankedEntry<E>) entry);
  }

  List<QueueEntry<E>> entries(int max) {
    var entries = new ArrayList<QueueEntry<E>>();
    for (var entry = chain.head; entry != null && entries.size() < max; entry = entry.next) entries.add(entry);
    if (rankedEntries != null) rankedEntries.stream().limit(max - entries.size()).forEach(entries::add);
    return entries;
  }

  /**
   * Removes the entries that have left the queue, and sorts the others. Without ranks, the list is
   * not changed, because it is in the order of arrival.
   */
  void dropGoneAndSort(List<QueueEntry<E>> entries) {
    if (rankedEntries == null) return;
    entries.removeIf(entry -> entry.state != QueueEntry.QUEUE);
    entries.sort((a, b) -> rankedEntries.comparator().compare((RankedEntry<E>) a, (RankedEntry<E>) b));
  }
}
