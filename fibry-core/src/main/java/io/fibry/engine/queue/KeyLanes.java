package io.fibry.engine.queue;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The messages of a {@link SharedQueue} by their keys. Of each key, at most one message stands in
 * line or is being handled; those behind it wait in its lane. Guarded by the queue.
 *
 * <p>The user's code, {@code hashCode} and {@code equals} of the keys, is called where a message is
 * {@link #expect expected}, on its sender's thread and before anything has changed, and where a
 * lane is forgotten.
 */
final class KeyLanes<E> {
  /** The messages of one key. */
  static final class Lane<E> {
    final Object key;
    final LinkedHashSet<PoolEntry<E>> behind = new LinkedHashSet<>();
    PoolEntry<E> first; // in line, or being handled; null: none
    int references; // that know it, those of blocked senders too

    Lane(Object key) {
      this.key = key;
    }
  }

  private final Map<Object, Lane<E>> lanes = new HashMap<>();
  final LinkedHashSet<PoolEntry<E>> all = new LinkedHashSet<>(); // that wait, oldest first
  int behind; // in all lanes

  /** The user's code: whoever throws here has changed nothing. */
  void findLane(PoolEntry<E> pooled) {
    if (pooled.key == null) return;
    pooled.lane = lanes.computeIfAbsent(pooled.key, Lane::new);
    pooled.lane.references++;
    pooled.key = null;
  }

  /**
   * It comes into the queue. Answers whether it goes to the end of the line; else it waits in its
   * lane.
   */
  boolean enter(PoolEntry<E> pooled) {
    all.add(pooled);
    var lane = pooled.lane;
    if (lane == null) return true;
    if (lane.first == null) {
      lane.first = pooled;
      return true;
    }
    lane.behind.add(pooled);
    behind++;
    return false;
  }

  /** Takes it out of its lane; false if it does not wait there. */
  boolean leaveLane(PoolEntry<E> pooled) {
    if (pooled.lane == null || !pooled.lane.behind.remove(pooled)) return false;
    behind--;
    forget(pooled);
    return true;
  }

  /**
   * It is done, or will never be begun. Answers who goes to the end of the line in its place; null:
   * nobody.
   */
  PoolEntry<E> advance(PoolEntry<E> pooled) {
    var lane = pooled.lane;
    if (lane == null) return null;
    PoolEntry<E> next = null;
    if (lane.first == pooled) {
      next = lane.behind.isEmpty() ? null : lane.behind.removeFirst();
      if (next != null) behind--;
      lane.first = next;
    }
    forget(pooled);
    return next;
  }

  /** Who is at the first of each key that somebody stands behind, or was given it. */
  List<WorkerSlot<E>> firstWorkers() {
    return lanes.values().stream().filter(lane -> !lane.behind.isEmpty()).map(lane -> lane.first.slot)
        .filter(Objects::nonNull).toList();
  }

  /**
   * It needs its lane no more. One that cannot be found again is left where it is: nothing stands
   * in it.
   */
  void forget(PoolEntry<E> pooled) {
    var lane = pooled.lane;
    pooled.lane = null;
    if (lane == null || --lane.references > 0) return;
    try {
      lanes.remove(lane.key, lane);
    } catch (RuntimeException | StackOverflowError ofItsEquals) { // the user's; see above
    }
  }
}
