package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;

/**
 * How many are in a queue without an inbox that count against its capacity, and so whether there is
 * room for more. Guarded by the queue.
 */
final class Occupancy {
  private final Mailbox<?> mailbox;
  private int count;
  private int tasks; // of them

  Occupancy(Mailbox<?> mailbox) {
    this.mailbox = mailbox;
  }

  int count() {
    return count;
  }

  /**
   * Where the oldest is dropped, tasks have room of their own: who gave one would never hear that
   * it was dropped.
   */
  boolean hasRoomFor(Entry<?> block) {
    int others = mailbox.overflow() != Overflow.DROP_OLDEST ? count : block.isTask() ? tasks : count - tasks;
    return others + block.size() <= mailbox.capacity();
  }

  void add(Entry<?> entry) {
    entry.counted = true;
    count++;
    if (entry.isTask()) tasks++;
  }

  void remove(Entry<?> entry) {
    count--;
    if (entry.isTask()) tasks--;
  }
}
