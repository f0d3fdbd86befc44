package io.fibry.engine.queue;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The entries of a {@link SharedQueue} by key: each key has a lane. Guarded by the queue's monitor.
 * The user's {@code hashCode} and {@code equals} run in {@link #assignLane}, before anything has
 * changed, and in {@link #forget}.
 */
final class KeyLanes<E> {
  static final class KeyLane<E> {
    final Object key;
    final LinkedHashSet<PoolEntry<E>> waitingEntries = new LinkedHashSet<>();
    PoolEntry<E> firstEntry; // the only entry of this key that workers may take or are handling; null if none
    int references; // number of entries with this key, also of blocked senders

    KeyLane(Object key) {
      this.key = key;
    }
  }

  private final Map<Object, KeyLane<E>> lanes = new LinkedHashMap<>();
  final LinkedHashSet<PoolEntry<E>> allQueued = new LinkedHashSet<>(); // all entries that have not begun, oldest first
  int waitingCount; // number of entries that wait in lanes

  void assignLane(PoolEntry<E> entry) {
    if (entry.key == null) return;
    entry.lane = lanes.computeIfAbsent(entry.key, KeyLane::new);
    entry.lane.references++;
    entry.key = null;
  }

  /** Adds an entry. Returns false if the entry must wait in its lane. */
  boolean enter(PoolEntry<E> entry) {
    allQueued.add(entry);
    var lane = entry.lane;
    if (lane == null) return true;
    if (lane.firstEntry == null) {
      lane.firstEntry = entry;
      return true;
    }
    try {
      lane.waitingEntries.add(entry);
    } catch (OutOfMemoryError error) { // the entry is in neither set, and its sender gets the error
      allQueued.remove(entry);
      throw error;
    }
    waitingCount++;
    return false;
  }

  /** Removes the entry from its lane. Returns false if the entry does not wait in a lane. */
  boolean leaveLane(PoolEntry<E> entry) {
    if (entry.lane == null || !entry.lane.waitingEntries.remove(entry)) return false;
    waitingCount--;
    forget(entry);
    return true;
  }

  /**
   * Called when the message of an entry was handled, or will never be handled. Returns the next
   * entry of its lane, or null.
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

  /** Returns the slots of the workers whose message holds up other entries of its lane. */
  List<WorkerSlot<E>> blockingWorkers() {
    return lanes.values().stream().filter(lane -> !lane.waitingEntries.isEmpty()).map(lane -> lane.firstEntry.slot)
        .filter(Objects::nonNull).toList();
  }

  /**
   * Removes the entry from the count of its lane, and an empty lane from the map. If the hash code
   * of the key has changed, the map does not find the lane, which then stays.
   */
  void forget(PoolEntry<E> entry) {
    var lane = entry.lane;
    entry.lane = null;
    if (lane == null || --lane.references > 0) return;
    try {
      lanes.remove(lane.key, lane);
    } catch (Throwable failure) { // thrown by the user's key; the caller must not lose the next entry of the lane
    }
  }
}
