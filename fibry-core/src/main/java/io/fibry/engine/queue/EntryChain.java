package io.fibry.engine.queue;

/** A list of entries, any of which can leave. Guarded by its queue. */
final class EntryChain<E> {
  QueueEntry<E> head; // null: empty
  QueueEntry<E> tail;

  boolean contains(QueueEntry<E> entry) {
    return entry.before != null || entry.after != null || head == entry;
  }

  void add(QueueEntry<E> entry) {
    entry.before = tail;
    if (tail == null) head = entry;
    else tail.after = entry;
    tail = entry;
  }

  void addFirst(QueueEntry<E> entry) {
    entry.after = head;
    if (head == null) tail = entry;
    else head.before = entry;
    head = entry;
  }

  /** {@code next} is in the chain. */
  void addBefore(QueueEntry<E> entry, QueueEntry<E> next) {
    if (next == head) {
      addFirst(entry);
      return;
    }
    entry.before = next.before;
    entry.after = next;
    next.before.after = entry;
    next.before = entry;
  }

  void remove(QueueEntry<E> entry) {
    if (entry.before == null) head = entry.after;
    else entry.before.after = entry.after;
    if (entry.after == null) tail = entry.before;
    else entry.after.before = entry.before;
    entry.before = null;
    entry.after = null;
  }
}
