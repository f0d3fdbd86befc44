package io.fibry.engine.queue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** Workers without work, the longest idle first. Guarded by the queue. */
final class IdleWorkers<E> {
  // a set: there may be thousands, and any may wake
  private final LinkedHashSet<WorkerSlot<E>> slots = new LinkedHashSet<>();

  boolean isEmpty() {
    return slots.isEmpty();
  }

  void add(WorkerSlot<E> slot) {
    slot.idleSinceKnown = false;
    slot.idle = !slot.retired;
    if (slot.idle) slots.add(slot);
  }

  /** The one idle for the shortest time; null: none. */
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

  /** At most {@code most} that have been idle for {@code minIdle}. */
  List<WorkerSlot<E>> retire(int most, long now, long minIdle) {
    var retired = new ArrayList<WorkerSlot<E>>();
    while (retired.size() < most && !slots.isEmpty() && slots.getFirst().idleSinceKnown
        && now - slots.getFirst().idleSince >= minIdle) {
      var slot = slots.removeFirst();
      slot.idle = false;
      slot.retired = true;
      retired.add(slot);
    }
    return retired;
  }

  /** 0: unknown. */
  long untilRetirement(long now, long minIdle) {
    return !slots.isEmpty() && slots.getFirst().idleSinceKnown
        ? Math.max(1, minIdle - (now - slots.getFirst().idleSince))
        : 0;
  }
}
