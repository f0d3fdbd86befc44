package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;

/** Entries that count against the capacity of a queue without arrivals. Guarded by the queue. */
final class OccupiedPlaces {
  private final Mailbox<?> mailbox;
  private int count;
  private int tasks;

  OccupiedPlaces(Mailbox<?> mailbox) {
    this.mailbox = mailbox;
  }

  int count() {
    return count;
  }

  /**
   * Where the oldest is dropped, tasks have room of their own: the sender of a dropped task would
   * never learn of it.
   */
  boolean hasRoomFor(QueueEntry<?> block) {
    int others = mailbox.overflow() != Overflow.DROP_OLDEST ? count : block.isTask() ? tasks : count - tasks;
    return others + block.size() <= mailbox.capacity();
  }

  void add(QueueEntry<?> entry) {
    entry.counted = true;
    count++;
    if (entry.isTask()) tasks++;
  }

  void remove(QueueEntry<?> entry) {
    count--;
    if (entry.isTask()) tasks--;
  }
}
