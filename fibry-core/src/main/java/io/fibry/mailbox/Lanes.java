package io.fibry.mailbox;

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
final class Lanes<E> {
  /** The messages of one key. */
  static final class Lane<E> {
    final Object key;
    final LinkedHashSet<Share<E>> behind = new LinkedHashSet<>();
    Share<E> first; // in line, or being handled; null: none
    int shares; // that know it, those of blocked senders too

    Lane(Object key) {
      this.key = key;
    }
  }

  private final Map<Object, Lane<E>> lanes = new HashMap<>();
  final LinkedHashSet<Share<E>> all = new LinkedHashSet<>(); // that wait, oldest first
  int behind; // in all lanes

  /** The user's code: whoever throws here has changed nothing. */
  void expect(Share<E> share) {
    if (share.key == null) return;
    share.lane = lanes.computeIfAbsent(share.key, Lane::new);
    share.lane.shares++;
    share.key = null;
  }

  /**
   * It comes into the queue. Answers whether it goes to the end of the line; else it waits in its
   * lane.
   */
  boolean enter(Share<E> share) {
    all.add(share);
    var lane = share.lane;
    if (lane == null) return true;
    if (lane.first == null) {
      lane.first = share;
      return true;
    }
    lane.behind.add(share);
    behind++;
    return false;
  }

  /** Takes it out of its lane; false if it does not wait there. */
  boolean leaveLane(Share<E> share) {
    if (share.lane == null || !share.lane.behind.remove(share)) return false;
    behind--;
    forget(share);
    return true;
  }

  /**
   * It is done, or will never be begun. Answers who goes to the end of the line in its place; null:
   * nobody.
   */
  Share<E> advance(Share<E> share) {
    var lane = share.lane;
    if (lane == null) return null;
    Share<E> next = null;
    if (lane.first == share) {
      next = lane.behind.isEmpty() ? null : lane.behind.removeFirst();
      if (next != null) behind--;
      lane.first = next;
    }
    forget(share);
    return next;
  }

  /** Who is at the first of each key that somebody stands behind, or was given it. */
  List<Seat<E>> fronts() {
    return lanes.values().stream().filter(lane -> !lane.behind.isEmpty()).map(lane -> lane.first.seat)
        .filter(Objects::nonNull).toList();
  }

  /**
   * It needs its lane no more. One that cannot be found again is left where it is: nothing stands
   * in it.
   */
  void forget(Share<E> share) {
    var lane = share.lane;
    share.lane = null;
    if (lane == null || --lane.shares > 0) return;
    try {
      lanes.remove(lane.key, lane);
    } catch (RuntimeException | StackOverflowError ofItsEquals) { // the user's; see above
    }
  }
}
