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
    final LinkedHashSet<PoolEntry<E>> waiting = new LinkedHashSet<>();
    PoolEntry<E> first; // the entry of this key that is in the order or is being handled, or null
    int references; // blocked senders' entries, too

    KeyLane(Object key) {
      this.key = key;
    }
  }

  private final Map<Object, KeyLane<E>> lanes = new LinkedHashMap<>();
  final LinkedHashSet<PoolEntry<E>> all = new LinkedHashSet<>(); // that wait, oldest first
  int waitingCount; // in all lanes

  void findLane(PoolEntry<E> entry) {
    if (entry.key == null) return;
    entry.lane = lanes.computeIfAbsent(entry.key, KeyLane::new);
    entry.lane.references++;
    entry.key = null;
  }

  /** Returns false if the entry waits in its lane. */
  boolean enter(PoolEntry<E> entry) {
    all.add(entry);
    var lane = entry.lane;
    if (lane == null) return true;
    if (lane.first == null) {
      lane.first = entry;
      return true;
    }
    try {
      lane.waiting.add(entry);
    } catch (OutOfMemoryError full) { // it is in neither, and its sender is told
      all.remove(entry);
      throw full;
    }
    waitingCount++;
    return false;
  }

  /** Returns false if the entry does not wait in its lane. */
  boolean leaveLane(PoolEntry<E> entry) {
    if (entry.lane == null || !entry.lane.waiting.remove(entry)) return false;
    waitingCount--;
    forget(entry);
    return true;
  }

  /** It is done, or never begins. Returns the next entry of its lane, or null. */
  PoolEntry<E> advance(PoolEntry<E> entry) {
    var lane = entry.lane;
    if (lane == null) return null;
    PoolEntry<E> next = null;
    if (lane.first == entry) {
      next = lane.waiting.isEmpty() ? null : lane.waiting.removeFirst();
      if (next != null) waitingCount--;
      lane.first = next;
    }
    forget(entry);
    return next;
  }

  /** Those that hold up a lane. */
  List<WorkerSlot<E>> firstWorkers() {
    return lanes.values().stream().filter(lane -> !lane.waiting.isEmpty()).map(lane -> lane.first.slot)
        .filter(Objects::nonNull).toList();
  }

  /** An empty lane that its key no longer finds stays in the map. */
  void forget(PoolEntry<E> entry) {
    var lane = entry.lane;
    entry.lane = null;
    if (lane == null || --lane.references > 0) return;
    try {
      lanes.remove(lane.key, lane);
    } catch (RuntimeException | StackOverflowError ofTheKey) { // the change above must stand
    }
  }
}
