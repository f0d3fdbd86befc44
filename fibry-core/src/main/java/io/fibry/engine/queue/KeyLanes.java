package io.fibry.engine.queue;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The entries of a {@link SharedQueue} by key. Guarded by the queue. The user's {@code hashCode}
 * and {@code equals} run in {@link #findLane}, before anything has changed, and in {@link #forget}.
 */
final class KeyLanes<E> {
  static final class KeyLane<E> {
    final Object key;
    final LinkedHashSet<PoolEntry<E>> waitingEntries = new LinkedHashSet<>();
    PoolEntry<E> firstEntry; // the entry of this key that is in the order or is being handled, or null
    int references; // number of entries with this key, also of blocked senders

    KeyLane(Object key) {
      this.key = key;
    }
  }

  private final Map<Object, KeyLane<E>> lanes = new LinkedHashMap<>();
  final LinkedHashSet<PoolEntry<E>> allWaiting = new LinkedHashSet<>(); // all waiting entries, oldest first
  int waitingCount; // number of entries that wait in lanes

  void findLane(PoolEntry<E> entry) {
    if (entry.key == null) return;
    entry.lane = lanes.computeIfAbsent(entry.key, KeyLane::new);
    entry.lane.references++;
    entry.key = null;
  }

  /** Adds an entry. Returns false if it must wait in its lane. */
  boolean enter(PoolEntry<E> entry) {
    allWaiting.add(entry);
    var lane = entry.lane;
    if (lane == null) return true;
    if (lane.firstEntry == null) {
      lane.firstEntry = entry;
      return true;
    }
    try {
      lane.waitingEntries.add(entry);
    } catch (OutOfMemoryError error) { // the entry is in neither set, and its sender gets the error
      allWaiting.remove(entry);
      throw error;
    }
    waitingCount++;
    return false;
  }

  /** Removes the entry from its lane. Returns false if it does not wait there. */
  boolean leaveLane(PoolEntry<E> entry) {
    if (entry.lane == null || !entry.lane.waitingEntries.remove(entry)) return false;
    waitingCount--;
    forget(entry);
    return true;
  }

  /**
   * Ends an entry that is done, or will never begin. Returns the next entry of its lane, or null.
   */
  PoolEntry<E> advance(PoolEntry<E> entry) {
    var lane = entry.lane;
    if (lane == null) return null;
    PoolEntry<E> nextEntry = null;
    if (lane.firstEntry == entry) {
      nextEntry = lane.waitingEntries.isEmpty() ? null : lane.waitingEntries.removeFirst();
      if (nextEntry != null) waitingCount--;
      lane.firstEntry = nextEntry;
    }
    forget(entry);
    return nextEntry;
  }

  /** Returns the slots of the workers that hold up a lane. */
  List<WorkerSlot<E>> firstWorkers() {
    return lanes.values().stream().filter(lane -> !lane.waitingEntries.isEmpty()).map(lane -> lane.firstEntry.slot)
        .filter(Objects::nonNull).toList();
  }

  /**
   * Removes the entry from the count of its lane, and an empty lane from the map. If the map no
   * longer finds the lane by its key, the lane stays.
   */
  void forget(PoolEntry<E> entry) {
    var lane = entry.lane;
    entry.lane = null;
    if (lane == null || --lane.references > 0) return;
    try {
      lanes.remove(lane.key, lane);
    } catch (RuntimeException | StackOverflowError failure) { // from the user's key; the change above stays
    }
  }
}
