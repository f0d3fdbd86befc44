package io.fibry.engine.queue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;

/** Workers without work, the longest idle first. Guarded by the queue. */
final class IdleWorkers<E> {
  static final long UNKNOWN = Long.MIN_VALUE;

  // a set: there may be thousands, and any may wake
  private final LinkedHashSet<WorkerSlot<E>> slots = new LinkedHashSet<>();

  boolean isEmpty() {
    return slots.isEmpty();
  }

  void add(WorkerSlot<E> slot, long now) {
    slot.idleSince = now;
    slot.idle = !slot.retired;
    if (slot.idle) slots.add(slot);
  }

  /** Returns the worker that has been idle for the shortest time, or null. */
  WorkerSlot<E> wakeLast() {
    if (slots.isEmpty()) return null;
    var slot = slots.removeLast();
    slot.idle = false;
    return slot;
  }

  void wake(WorkerSlot<E> slot) {
    if (slot.idle) slots.remove(slot);
    slot.idle = false;
  }

  /**
   * At most {@code most} that have been idle for {@code minIdle}. One without a time gets this one,
   * and goes behind the others, which it would hold up.
   */
  List<WorkerSlot<E>> retire(int most, long now, long minIdle) {
    var retired = new ArrayList<WorkerSlot<E>>();
    while (retired.size() < most && !slots.isEmpty()) {
      var first = slots.getFirst();
      if (first.idleSince == UNKNOWN) {
        first.idleSince = now;
        slots.addLast(first);
      } else if (now - first.idleSince >= minIdle) {
        wake(first);
        first.retired = true;
        retired.add(first);
      } else break;
    }
    return retired;
  }

  /**
   * Returns when the first idle worker that may retire has been idle for {@code minIdle}; empty if
   * there is none.
   */
  OptionalLong nextRetirement(long minIdle) {
    return slots.stream().filter(slot -> slot.idleSince != UNKNOWN).mapToLong(slot -> slot.idleSince + minIdle)
        .findFirst();
  }
}
