package io.fibry.engine.queue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;

/** The slots of workers without work, the longest idle first. Guarded by the queue's monitor. */
final class IdleWorkers<E> {
  static final long UNKNOWN = Long.MIN_VALUE;

  // a set, because there may be thousands of slots, and any of them may be woken
  private final LinkedHashSet<WorkerSlot<E>> slots = new LinkedHashSet<>();

  boolean isEmpty() {
    return slots.isEmpty();
  }

  void add(WorkerSlot<E> slot, long now) {
    slot.idleSince = now;
    slot.isIdle = !slot.isRetired;
    if (slot.isIdle) slots.add(slot);
  }

  /** Removes and returns the slot that has been idle for the shortest time, or returns null. */
  WorkerSlot<E> removeLatest() {
    if (slots.isEmpty()) return null;
    var slot = slots.removeLast();
    slot.isIdle = false;
    return slot;
  }

  void remove(WorkerSlot<E> slot) {
    if (slot.isIdle) slots.remove(slot);
    slot.isIdle = false;
  }

  /**
   * Removes and returns at most {@code max} slots that have been idle for {@code minIdle} ns. A
   * slot with an unknown idle time counts as idle from now on. Such a slot moves behind the others,
   * because at the front it would delay their retirement.
   */
  List<WorkerSlot<E>> retire(int max, long now, long minIdle) {
    var retiredSlots = new ArrayList<WorkerSlot<E>>();
    while (retiredSlots.size() < max && !slots.isEmpty()) {
      var slot = slots.getFirst();
      if (slot.idleSince == UNKNOWN) {
        slot.idleSince = now;
        slots.addLast(slot);
      } else if (now - slot.idleSince >= minIdle) {
        remove(slot);
        slot.isRetired = true;
        retiredSlots.add(slot);
      } else break;
    }
    return retiredSlots;
  }

  /**
   * Returns the time at which the first worker with a known idle time has been idle for
   * {@code minIdle} ns. Empty if there is no such worker.
   */
  OptionalLong nextRetirement(long minIdle) {
    return slots.stream().filter(slot -> slot.idleSince != UNKNOWN).mapToLong(slot -> slot.idleSince + minIdle)
        .findFirst();
  }
}
