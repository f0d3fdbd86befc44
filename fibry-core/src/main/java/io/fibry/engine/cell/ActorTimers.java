package io.fibry.engine.cell;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Timers in the order in which they were set, one for each key. A list without nodes, since an
 * actor may have millions. Guarded by the actor's extras until the end, then its last thread's own.
 */
final class ActorTimers {
  private AttachedTimer first; // null: none
  private AttachedTimer last;
  private Map<Object, AttachedTimer> keyed = Map.of(); // fixed until needed

  boolean isEmpty() {
    return first == null;
  }

  /**
   * Keeps a started timer in place of the one with its key. A later one stays: this one may have
   * run already, and its message may have started that one. Returns the timer that is to be
   * canceled, or null if there is none.
   */
  AttachedTimer put(AttachedTimer timer) {
    var present = timer.key == null ? null : keyed.get(timer.key);
    if (present != null && present.isAfter(timer)) return timer;
    if (present != null) remove(present);
    if (!timer.hasRun()) add(timer);
    return present;
  }

  private void add(AttachedTimer timer) {
    if (timer.key != null) {
      if (keyed.isEmpty()) keyed = new HashMap<>();
      keyed.put(timer.key, timer);
    }
    timer.before = last;
    if (last == null) first = timer;
    else last.after = timer;
    last = timer;
  }

  /** Once or more often. */
  void remove(AttachedTimer timer) {
    var before = timer.before;
    var after = timer.after;
    if (before == null && first != timer) return;
    if (timer.key != null) keyed.remove(timer.key);
    if (before == null) first = after;
    else before.after = after;
    if (after == null) last = before;
    else after.before = before;
    timer.before = timer.after = null;
  }

  boolean anyMatch(Predicate<AttachedTimer> such) {
    for (var timer = first; timer != null; timer = timer.after) if (such.test(timer)) return true;
    return false;
  }

  /**
   * At the end, when no others come or go. Returns null if no timer is left. A timer that a user
   * keeps must not keep the others.
   */
  AttachedTimer poll() {
    var timer = first;
    if (timer != null) remove(timer);
    return timer;
  }
}
