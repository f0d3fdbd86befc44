package io.fibry.engine.cell;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The timers of an actor in the order in which they were set, at most one for each key. A linked
 * list without node objects, because an actor may have millions of timers. Guarded by the actor's
 * extras until the end; after the end, only its last thread uses it.
 */
final class ActorTimers {
  private AttachedTimer first; // null if there are no timers
  private AttachedTimer last;
  private Map<Object, AttachedTimer> keyed = Map.of(); // replaced by a mutable map when first needed

  boolean isEmpty() {
    return first == null;
  }

  /**
   * Adds a started timer in place of the timer with its key. If the timer with its key is later,
   * the given timer is not added: it may have run already, and its message may have started the
   * later one. Returns the timer that must be canceled, or null if there is none.
   */
  AttachedTimer put(AttachedTimer timer) {
    var old = timer.key == null ? null : keyed.get(timer.key);
    if (old != null && old.isAfter(timer)) return timer;
    if (old != null) remove(old);
    if (!timer.hasRun()) add(timer);
    return old;
  }

  private void add(AttachedTimer timer) {
    if (timer.key != null) {
      if (keyed.isEmpty()) keyed = new HashMap<>();
      keyed.put(timer.key, timer);
    }
    timer.previous = last;
    if (last == null) first = timer;
    else last.next = timer;
    last = timer;
  }

  /** Removes the timer; does nothing if it was removed before. */
  void remove(AttachedTimer timer) {
    var before = timer.previous;
    var after = timer.next;
    if (before == null && first != timer) return;
    if (timer.key != null) keyed.remove(timer.key);
    if (before == null) first = after;
    else before.next = after;
    if (after == null) last = before;
    else after.previous = before;
    timer.previous = timer.next = null;
  }

  boolean anyMatch(Predicate<AttachedTimer> condition) {
    for (var timer = first; timer != null; timer = timer.next) if (condition.test(timer)) return true;
    return false;
  }

  /**
   * Removes and returns the first timer, or returns null if there is none. Called at the end, when
   * no timer is added. Unlinks each timer, because a user may keep a reference to one, which must
   * not keep the others in memory.
   */
  AttachedTimer poll() {
    var timer = first;
    if (timer != null) remove(timer);
    return timer;
  }
}
