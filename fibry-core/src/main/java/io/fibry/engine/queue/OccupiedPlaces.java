package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;

/**
 * Counts the entries that use the capacity of a queue without an {@link ArrivalBuffer}. Guarded by
 * the queue's monitor.
 */
final class OccupiedPlaces {
  private final Mailbox<?> mailbox;
  private int count;
  private int taskCount;

  OccupiedPlaces(Mailbox<?> mailbox) {
    this.mailbox = mailbox;
  }

  int count() {
    return count;
  }

  /**
   * Returns whether an entry and the entries linked behind it fit. If a full mailbox drops its
   * oldest message, tasks have a capacity of their own and are never dropped, because the sender of
   * a dropped task would not be notified.
   */
  boolean hasSpaceFor(QueueEntry<?> firstEntry) {
    int occupied =
        mailbox.overflow() != Overflow.DROP_OLDEST ? count : firstEntry.isTask() ? taskCount : count - taskCount;
    return occupied + firstEntry.size() <= mailbox.capacity();
  }

  void add(QueueEntry<?> entry) {
    entry.isCounted = true;
    count++;
    if (entry.isTask()) taskCount++;
  }

  void remove(QueueEntry<?> entry) {
    count--;
    if (entry.isTask()) taskCount--;
  }
}
