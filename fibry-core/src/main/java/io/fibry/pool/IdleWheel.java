package io.fibry.pool;

import io.fibry.block.Arguments;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;

/**
 * Finds idle entities. The idle time has eight ticks. Each entity is in the slot of the first tick
 * at which it can be idle, and then is passivated or moves to a later slot. So a use costs nothing
 * here. One thread at a time turns the wheel.
 */
final class IdleWheel<K, M> {
  private static final int TICKS = 8;
  private static final int SLOTS = TICKS + 2; // more than `life`
  private static final long MIN_TICK = 1_000_000; // ns

  private final Scheduler clock;
  private final Runnable due; // on the clock's thread
  private final BiPredicate<Entity<K, M>, Long> passivation; // false: used since that word
  private final long start;
  private final long tick; // ns
  private final long life; // ticks from the last use until the idle time is surely over
  // a list, pushed by creators and taken by turns
  private final AtomicReference<Entity<K, M>> newEntities = new AtomicReference<>();
  // a timer is set or a turn runs; false -> true by a creator or a turn, true -> false by a turn
  private final AtomicBoolean armed = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by the thread that set `armed`
  private volatile boolean stopped;
  // from here on: used by turns only
  @SuppressWarnings("unchecked")
  private final Entity<K, M>[] slots = (Entity<K, M>[]) new Entity<?, ?>[SLOTS];
  private long turned; // the last tick done
  private long held; // entities in the slots

  IdleWheel(Duration idleness, Scheduler clock, Runnable due, BiPredicate<Entity<K, M>, Long> passivation) {
    Arguments.requirePositive(idleness, "idle",
        "entities that are idle after " + Durations.text(idleness) + " would end before their first message");
    this.clock = clock;
    this.due = () -> {
      try {
        due.run();
      } catch (Throwable noMemory) {
        disarm();
        throw noMemory;
      }
    };
    this.passivation = passivation;
    this.start = clock.nanoTime();
    long nanos = Durations.nanos(idleness);
    this.tick = Math.max(MIN_TICK, Math.ceilDiv(nanos, TICKS));
    this.life = Math.ceilDiv(nanos, tick) + 1;
  }

  long now() {
    return (clock.nanoTime() - start) / tick;
  }

  /**
   * Adds, then looks at {@code armed}; a turn disarms, then looks for newborn entities. So one of
   * them sets the timer.
   */
  void add(Entity<K, M> entity) {
    do entity.next = newEntities.get(); while (!newEntities.compareAndSet(entity.next, entity));
    if (!armed.get() && armed.compareAndSet(false, true)) arm(now());
  }

  private void arm(long from) {
    try {
      timer = clock.scheduleAt(start + (from + 1) * tick, due);
    } catch (Throwable noTimer) {
      disarm();
      throw noTimer;
    }
    if (stopped) timer.cancel();
  }

  /** The next birth tries again. */
  private void disarm() {
    armed.set(false);
  }

  void stop() {
    stopped = true;
    var last = timer;
    if (last != null) last.cancel();
  }

  /** Goes on at once if a manual clock has reached the next tick meanwhile. */
  void turn() {
    do turn(now()); while (!stopped && scheduleNext() && now() > turned && timer.cancel());
  }

  private void turn(long now) {
    scan(newEntities.getAndSet(null), now);
    for (long at = Math.max(turned, now - SLOTS) + 1; at <= now; at++) scan(take((int) (at % SLOTS)), now);
    turned = now;
  }

  private Entity<K, M> take(int slot) {
    var first = slots[slot];
    slots[slot] = null;
    for (var each = first; each != null; each = each.next) held--;
    return first;
  }

  private void scan(Entity<K, M> first, long now) {
    for (var each = first; each != null;) {
      var next = each.next;
      each.next = null;
      try {
        scanEntity(each, now);
      } catch (Throwable noMemory) { // or of the user
        place(each, now + life);
      }
      each = next;
    }
  }

  private void scanEntity(Entity<K, M> entity, long now) {
    long word = entity.word();
    if (Entity.isGone(word)) return;
    long idleAt = Entity.tick(word) + life;
    if (Entity.isUsed(word)) place(entity, now + life);
    else if (idleAt > now) place(entity, idleAt);
    else if (entity.hasPendingAnswers() || !passivation.test(entity, word)) place(entity, now + life);
  }

  private void place(Entity<K, M> entity, long at) {
    int slot = (int) (at % SLOTS);
    entity.next = slots[slot];
    slots[slot] = entity;
    held++;
  }

  /** Sets the timer, and returns false if no entity is alive. */
  private boolean scheduleNext() {
    if (held == 0) {
      armed.set(false);
      if (newEntities.get() == null || !armed.compareAndSet(false, true)) return false;
    }
    arm(turned);
    return true;
  }
}
