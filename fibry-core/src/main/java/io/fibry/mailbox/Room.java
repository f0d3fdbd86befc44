package io.fibry.mailbox;

/**
 * How many are in a queue without an inbox that count against its capacity, and so whether there is
 * room for more. Guarded by the queue.
 */
final class Room {
  private final Mailbox<?> kind;
  private int count;
  private int tasks; // of them

  Room(Mailbox<?> kind) {
    this.kind = kind;
  }

  int count() {
    return count;
  }

  /**
   * Where the oldest is dropped, tasks have room of their own: who gave one would never hear that
   * it was dropped.
   */
  boolean isEnoughFor(Place<?> block) {
    int others = kind.overflow() != Overflow.DROP_OLDEST ? count : block.isTask() ? tasks : count - tasks;
    return others + block.size() <= kind.capacity();
  }

  void add(Place<?> place) {
    place.counted = true;
    count++;
    if (place.isTask()) tasks++;
  }

  void remove(Place<?> place) {
    count--;
    if (place.isTask()) tasks--;
  }
}
