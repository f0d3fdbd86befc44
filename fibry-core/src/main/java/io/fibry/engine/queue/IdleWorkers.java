package io.fibry.engine.queue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** The seats whose workers rest, who rests longest first. Guarded by the queue. */
final class IdleWorkers<E> {
  // there may be thousands, and any of them may wake
  private final LinkedHashSet<WorkerSlot<E>> slots = new LinkedHashSet<>();

  boolean isEmpty() {
    return slots.isEmpty();
  }

  /** One that is to go does not rest. */
  void add(WorkerSlot<E> slot) {
    slot.idleSinceKnown = false;
    slot.idle = !slot.retired;
    if (slot.idle) slots.add(slot);
  }

  /** Who rests since the shortest time; null: nobody. */
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

  /** At most so many that have rested for so long, to go. */
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

  /** How long until the first has rested for so long; 0: nobody knows. */
  long untilRetirement(long now, long minIdle) {
    return !slots.isEmpty() && slots.getFirst().idleSinceKnown
        ? Math.max(1, minIdle - (now - slots.getFirst().idleSince))
        : 0;
  }
}
