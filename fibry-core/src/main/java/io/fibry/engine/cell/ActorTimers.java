package io.fibry.engine.cell;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The timers of an actor in the order in which they were set, at most one for each key. A linked
 * list without node objects, because an actor may have millions of timers. Any thread sets and
 * removes timers without a lock. Only the map of keys is guarded by the monitor of the extras.
 *
 * <p><b>Structure.</b> A stack: this reference is the newest timer. Each timer has a link to the
 * next older one. Setting a timer is one compare-and-set. Removing a timer marks it forever, and
 * then links its newer neighbor to its older neighbor by plain writes. The list has ended if the
 * reference is this object itself.
 *
 * <p><b>Links are always right.</b> A link leads to an older timer, and all timers between the two
 * are marked. This stays true, because no timer is added between others, and no mark is cleared. So
 * each link that was ever written skips only removed timers, even if a thread writes it late. The
 * link {@code newer} leads to a newer timer by the same rule. It is written after the
 * compare-and-set, because a failed attempt leaves no newer timer. A missing link {@code newer}
 * only means that the timer stays linked for longer.
 *
 * <p><b>No timer is lost.</b> The thread of a timer that fires may remove it before it was added.
 * Such a timer has no link {@code newer} and is not the newest, so no link is written. The adding
 * thread sees the mark in most cases, and removes the timer once more. There is no fence between
 * the mark and the reads of its writer, so each of the two threads may miss the other's writes. The
 * timer then leaves when the next timer is added, or one of its neighbors is removed.
 *
 * <p><b>Removed timers leave.</b> If two threads remove neighbors at the same time, one of the two
 * may stay linked until one of its neighbors is removed. Such a timer has no message. The link
 * {@code newer} of an older timer may then end at a removed timer, which is a dead end: no newer
 * timer is known that could be linked to the older neighbor. Dead ends are counted, and at the
 * first, second, fourth, eighth and so on, the links are repaired from the newest timer. The number
 * of repaired links grows with the count, so a dead end costs constant time on average. The count
 * begins again when all links are right. Thus about one removed timer may stay for 32 others.
 *
 * <p><b>Refused.</b> A list under the monitor of the extras: a timer that is set and removed then
 * takes four atomic operations more.
 */
final class ActorTimers extends AtomicReference<Object> {
  private static final long serialVersionUID = 1;
  private static final long LINKS_PER_DEAD_END = 64;

  private transient Map<Object, AttachedTimer> keyed = Map.of(); // replaced by a mutable map when first needed
  private int deadEnds; // since all links were right; written by any thread, a lost update only delays a repair

  boolean isEmpty() {
    var newest = get();
    return newest == this || firstOf(newest) == null;
  }

  /** Returns the first timer that is not removed, from the given timer to the oldest, or null. */
  private static AttachedTimer firstOf(Object newest) {
    var timer = (AttachedTimer) newest;
    while (timer != null && timer.isRemoved()) timer = timer.older;
    return timer;
  }

  /**
   * Adds a started timer without a key, unless it was removed because it has run. Returns false if
   * the list has ended.
   */
  boolean add(AttachedTimer timer) {
    if (timer.isRemoved()) return true;
    AttachedTimer older;
    Object newest;
    do {
      newest = get();
      if (newest == this) return false;
      older = firstOf(newest);
      timer.older = older;
    } while (!compareAndSet(newest, timer));
    if (older != null) {
      older.setNewer(timer);
      if (older.isRemoved()) unlink(older); // perhaps removed before it had this link
    }
    if (timer.isRemoved()) unlink(timer); // has run before it was added
    return true;
  }

  /**
   * Adds a started timer with a key, and removes the earlier timer with an equal key. If a timer
   * that was set later has this key, that timer stays, and the given timer is not added. This
   * happens if the given timer runs before this call, and the handler of its message sets a new
   * timer with the same key. Returns the timer that the caller must cancel, or null. The list must
   * not have ended.
   */
  AttachedTimer put(AttachedTimer timer) {
    var key = timer.key();
    var sameKey = keyed.get(key);
    if (sameKey != null && sameKey.isAfter(timer)) return timer;
    if (sameKey != null) {
      keyed.remove(key);
      remove(sameKey);
    }
    if (timer.isRemoved()) return sameKey;
    if (keyed.isEmpty()) keyed = new HashMap<>();
    keyed.put(key, timer);
    add(timer);
    return sameKey;
  }

  void removeKey(AttachedTimer timer) {
    if (!keyed.isEmpty()) keyed.remove(timer.key(), timer); // the empty map refuses the call
  }

  /** Removes the timer; does nothing if it was removed before, or is not added yet. */
  void remove(AttachedTimer timer) {
    timer.markRemoved();
    unlink(timer);
  }

  private void unlink(AttachedTimer timer) {
    if (get() != timer || !compareAndSet(timer, firstOf(timer.older))) {
      var newer = timer.newer();
      if (newer == null) return; // not added, or the newer timer is being added, whose thread may see the mark
      for (var next = newer; next != null && newer.isRemoved(); next = next.newer()) newer = next;
      if (newer.isRemoved()) onDeadEnd();
      else link(newer, firstOf(timer.older)); // read now, because only an added timer has the right link
    }
    timer.setNewer(null); // a user's reference to a removed timer must not keep newer timers in memory
  }

  /** Links two neighbors, whose links may be right already. */
  private static void link(AttachedTimer newer, AttachedTimer older) {
    if (newer.older != older) newer.older = older;
    if (older != null && older.newer() != newer) older.setNewer(newer);
  }

  private void onDeadEnd() {
    int count = deadEnds + 1; // each count is stored before a greater one, so no power of two is missed
    deadEnds = count;
    if (Integer.bitCount(count) == 1) repair(count * LINKS_PER_DEAD_END);
  }

  /** Links the newest timers that are not removed, by the same rule as a removal. */
  private void repair(long maxLinks) {
    var newest = get();
    if (newest == this) return;
    var timer = firstOf(newest);
    for (long left = maxLinks; timer != null && left > 0; left--) {
      var older = firstOf(timer.older);
      link(timer, older);
      timer = older;
    }
    if (timer == null) deadEnds = 0;
  }

  boolean hasDue(long now) {
    var newest = get();
    if (newest == this) return false;
    for (var timer = firstOf(newest); timer != null; timer = firstOf(timer.older)) if (timer.isDue(now)) return true;
    return false;
  }

  /** Ends the list if it is empty, and returns whether this call has ended it. */
  boolean endIfEmpty() {
    var newest = get();
    return newest != this && firstOf(newest) == null && compareAndSet(newest, this);
  }

  /** Ends the list, and returns its newest timer, or null. Called once. */
  AttachedTimer end() {
    return (AttachedTimer) getAndSet(this);
  }
}
