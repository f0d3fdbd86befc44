package io.fibry.engine.queue;

/**
 * A linked list of entries, from which any entry can be removed. Guarded by the queue's monitor.
 */
final class EntryChain<E> {
  QueueEntry<E> head; // null: the chain is empty
  QueueEntry<E> tail;

  boolean contains(QueueEntry<E> entry) {
    return entry.previous != null || entry.next != null || head == entry;
  }

  void add(QueueEntry<E> entry) {
    entry.previous = tail;
    if (tail == null) head = entry;
    else tail.next = entry;
    tail = entry;
  }

  void addFirst(QueueEntry<E> entry) {
    entry.next = head;
    if (head == null) tail = entry;
    else head.previous = entry;
    head = entry;
  }

  /** Inserts the entry before {@code successor}, which is in the chain. */
  void addBefore(QueueEntry<E> entry, QueueEntry<E> successor) {
    if (successor == head) {
      addFirst(entry);
      return;
    }
    entry.previous = successor.previous;
    entry.next = successor;
    successor.previous.next = entry;
    successor.previous = entry;
  }

  void remove(QueueEntry<E> entry) {
    if (entry.previous == null) head = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next == null) tail = entry.previous;
    else entry.next.previous = entry.previous;
    entry.previous = null;
    entry.next = null;
  }
}
