package io.fibry.pool;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Finds the idle. The time of idleness has eight ticks; who is alive stands in a list for the tick
 * at which he may be idle, at the earliest, and is looked at then: used meanwhile, he goes to a
 * later list. So a turn costs as much as there are who may be idle, and each use costs nothing
 * here. Turned by one thread at a time.
 */
final class IdleWheel<K, M> {
  /** What becomes of who is idle. */
  @FunctionalInterface
  interface Passivation<K, M> {
    /** Lets it go, unless it was used since it was seen so; false then. */
    boolean of(Entity<K, M> entity, long seen);
  }

  private static final int TICKS = 8;
  private static final int SLOTS = TICKS + 2; // more than a life has ticks
  private static final long SHORTEST = 1_000_000; // ns
  private static final long LONGEST = Long.MAX_VALUE / 4; // ns

  private final Scheduler clock;
  private final Runnable due; // on the clock's thread
  private final Passivation<K, M> passivation;
  private final long start;
  private final long tick; // ns
  // so many ticks after the tick of the last use, at least as long as idleness has passed
  private final long life;
  // a list: added to by who gave birth, taken by who turns
  private final AtomicReference<Entity<K, M>> newborn = new AtomicReference<>();
  // false -> true by the newborn, true -> false by who turns: a timer is set, or somebody turns
  private final AtomicBoolean armed = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by who arms
  private volatile boolean stopped;
  private final Entity<?, ?>[] slots = new Entity<?, ?>[SLOTS]; // this and the next two: who turns
  private long turned; // up to which tick
  private long held; // how many stand in the slots

  IdleWheel(Duration idleness, Scheduler clock, Runnable due, Passivation<K, M> passivation) {
    if (!idleness.isPositive()) throw new IllegalArgumentException(
        "entities that are idle after " + idleness + " would end before their first message; give more than zero");
    this.clock = clock;
    this.due = due;
    this.passivation = passivation;
    this.start = clock.nanoTime();
    long nanos = idleness.compareTo(Duration.ofNanos(LONGEST)) < 0 ? idleness.toNanos() : LONGEST;
    this.tick = Math.max(SHORTEST, Math.ceilDiv(nanos, TICKS));
    this.life = Math.ceilDiv(nanos, tick) + 1;
  }

  /** The tick it is now. */
  long now() {
    return (clock.nanoTime() - start) / tick;
  }

  /**
   * One more is alive. The timer is looked at after it was added; who turns looks at the added
   * after he gave up the timer.
   */
  void add(Entity<K, M> entity) {
    do entity.next = newborn.get(); while (!newborn.compareAndSet(entity.next, entity));
    if (!armed.get() && armed.compareAndSet(false, true)) arm(now());
  }

  private void arm(long from) {
    try {
      timer = clock.after(Duration.ofNanos(Math.max(0, start + (from + 1) * tick - clock.nanoTime())), due);
    } catch (RuntimeException noTimer) {
      armed.set(false); // the next one that is born tries again
      throw noTimer;
    }
    if (stopped) timer.cancel();
  }

  void stop() {
    stopped = true;
    var last = timer;
    if (last != null) last.cancel();
  }

  /**
   * Looks at who may be idle, and sets the timer for the next turn, if anybody is alive. A clock
   * moved by hand may be there already.
   */
  void turn() {
    do turn(now()); while (!stopped && goesOn() && now() > turned && timer.cancel());
  }

  private void turn(long now) {
    look(newborn.getAndSet(null), now);
    for (long at = Math.max(turned, now - SLOTS) + 1; at <= now; at++) look(take((int) (at % SLOTS)), now);
    turned = now;
  }

  @SuppressWarnings("unchecked") // only `place` writes
  private Entity<K, M> take(int slot) {
    var first = (Entity<K, M>) slots[slot];
    slots[slot] = null;
    for (var each = first; each != null; each = each.next) held--;
    return first;
  }

  private void look(Entity<K, M> first, long now) {
    for (var each = first; each != null;) {
      var next = each.next;
      each.next = null;
      lookAt(each, now);
      each = next;
    }
  }

  private void lookAt(Entity<K, M> entity, long now) {
    long word = entity.word();
    if (Entity.isGone(word)) return;
    long idleAt = Entity.tick(word) + life;
    if (Entity.isUsed(word)) place(entity, now + life);
    else if (idleAt > now) place(entity, idleAt);
    else if (entity.isAwaited() || !passivation.of(entity, word)) place(entity, now + life);
  }

  @SuppressWarnings("unchecked") // as in `take`
  private void place(Entity<K, M> entity, long at) {
    int slot = (int) (at % SLOTS);
    entity.next = (Entity<K, M>) slots[slot];
    slots[slot] = entity;
    held++;
  }

  /** True: the timer is set. */
  private boolean goesOn() {
    if (held == 0) {
      armed.set(false);
      if (newborn.get() == null || !armed.compareAndSet(false, true)) return false;
    }
    arm(turned);
    return true;
  }
}
