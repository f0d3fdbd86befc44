package io.fibry.engine.cell;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The timers of an actor in the order in which they were set, at most one for each key. A linked
 * list without node objects, because an actor may have millions of timers. Guarded by the actor's
 * extras until the end has begun; then only the thread that ends the actor uses it.
 */
final class ActorTimers {
  private AttachedTimer first; // null if there are no timers
  private AttachedTimer last;
  private Map<Object, AttachedTimer> keyed = Map.of(); // replaced by a mutable map when first needed

  boolean isEmpty() {
    return first == null;
  }

  /**
   * Adds a started timer, unless it has already run, and removes the earlier timer with an equal
   * key. If a timer that was set later has this key, that timer stays, and the given timer is not
   * added. This happens if the given timer runs before this call, and the handler of its message
   * sets a new timer with the same key. Returns the timer that the caller must cancel, or null.
   */
  AttachedTimer put(AttachedTimer timer) {
    var key = timer.key();
    var sameKey = key == null ? null : keyed.get(key);
    if (sameKey != null && sameKey.isAfter(timer)) return timer;
    if (sameKey != null) remove(sameKey);
    if (!timer.hasRun()) add(timer);
    return sameKey;
  }

  private void add(AttachedTimer timer) {
    var key = timer.key();
    if (key != null) {
      if (keyed.isEmpty()) keyed = new HashMap<>();
      keyed.put(key, timer);
    }
    timer.previous = last;
    if (last == null) first = timer;
    else last.next = timer;
    last = timer;
  }

  /** Removes the timer; does nothing if it was removed before. */
  void remove(AttachedTimer timer) {
    var previous = timer.previous;
    var next = timer.next;
    if (previous == null && first != timer) return;
    if (timer.key() != null) keyed.remove(timer.key());
    if (previous == null) first = next;
    else previous.next = next;
    if (next == null) last = previous;
    else next.previous = previous;
    timer.previous = timer.next = null;
  }

  boolean anyMatch(Predicate<AttachedTimer> condition) {
    for (var timer = first; timer != null; timer = timer.next) if (condition.test(timer)) return true;
    return false;
  }

  /**
   * Removes and returns the first timer, or returns null if no timer is left. Called at the end of
   * the actor, after which no timer is added. Unlinks the timer: a user's reference to one timer
   * must not keep other timers in memory.
   */
  AttachedTimer poll() {
    var timer = first;
    if (timer != null) remove(timer);
    return timer;
  }
}
