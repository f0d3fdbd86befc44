package io.fibry.pool;

import io.fibry.block.Arguments;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;

/**
 * Finds each idle entity when its idle time is over. A use of an entity changes only the entity's
 * use state, and sets no timer. Each entity has one planned check. One thread at a time makes
 * checks, in a turn.
 *
 * <p>The idle time is divided into eight steps. The first check of an entity is at the beginning of
 * the step in which it can become idle. An entity that is used often has been used again by then,
 * and many such entities share this check. Each of the others gets another check at the beginning
 * of an eighth of this step, and so on, and the last check exactly when its idle time is over. So
 * there are few different times of checks, however many entities there are.
 *
 * <p>No check is late: its time is never after the moment at which the entity is idle by its use
 * state. A use only moves this moment to a later time. Three races could make a check late.
 *
 * <p>A user reads the clock before it leaves an entity. A turn that finds the entity in use may
 * have read a later time meanwhile. The turn stores its own time in the use state, so the user
 * cannot store the earlier time.
 *
 * <p>An entity may be pushed after a turn has taken the new entities. The turn reads the clock
 * first, and sets the timer to this time plus the idle time, or earlier. The creator leaves the
 * entity after the push, so the entity is not idle before the timer.
 *
 * <p>Two creators may push entities while no timer is set, and one of them may leave its entity
 * before the other sets the timer. So the creator that sets the timer reads the use states of all
 * new entities.
 */
final class IdleWheel<K, M> {
  private static final int STEPS = 8;
  private static final long TICK_NANOS = 1_000_000; // the unit in which an entity notes the time of its use

  private final Scheduler clock;
  private final Runnable onTimer; // runs on the clock's thread when the time of a check is reached
  // passivates an entity; returns false if the entity was used after its use state was read
  private final BiPredicate<Entity<K, M>, Long> passivation;
  private final long start; // ns by the clock; all times below count from here
  private final long idleNanos;
  private final long stepNanos;
  // a linked list; creators push entities, and a turn takes the whole list
  private final AtomicReference<Entity<K, M>> newEntities = new AtomicReference<>();
  // whether a timer is set or a turn runs; set by a creator or turn, cleared by a turn or failure
  private final AtomicBoolean isArmed = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by the thread that set `isArmed`
  private volatile boolean isStopped;
  // the linked lists of entities by the time of their check, in ns; used by turns only
  private final TreeMap<Long, Entity<K, M>> checks = new TreeMap<>();

  IdleWheel(Duration idleTime, Scheduler clock, Runnable onTimer, BiPredicate<Entity<K, M>, Long> passivation) {
    Arguments.requirePositive(idleTime, "idleTime",
        "entities that are idle after " + Durations.text(idleTime) + " would end before their first message");
    this.clock = clock;
    this.onTimer = () -> {
      try {
        onTimer.run();
      } catch (Throwable failure) {
        disarm();
        throw failure;
      }
    };
    this.passivation = passivation;
    this.start = clock.nanoTime();
    this.idleNanos = Durations.nanos(idleTime);
    this.stepNanos = Math.max(TICK_NANOS, idleNanos / STEPS);
  }

  private long now() {
    return clock.nanoTime() - start;
  }

  /** Returns the present time in ticks, rounded up, so that no entity is passivated too early. */
  long currentTick() {
    return tick(now());
  }

  private static long tick(long time) {
    return Math.ceilDiv(time, TICK_NANOS);
  }

  /** Returns when an entity is idle that was last used at the time in this use state. */
  private long idleAt(long useState) {
    return Entity.tick(useState) * TICK_NANOS + idleNanos;
  }

  /**
   * Adds an entity, and then reads {@code isArmed}. A turn that leaves no check clears
   * {@code isArmed}, and then reads the new entities. So this thread or the turn sets the timer.
   */
  void add(Entity<K, M> entity) {
    push(entity);
    if (!isArmed.get() && isArmed.compareAndSet(false, true)) arm(firstOfNewEntities());
  }

  private void push(Entity<K, M> entity) {
    do entity.next = newEntities.get(); while (!newEntities.compareAndSet(entity.next, entity));
  }

  /**
   * Returns when the first of the new entities can be idle. Called by the thread that set
   * {@code isArmed}, so no turn takes the list at the same time. If an earlier turn has taken it
   * and found only entities that were gone, the result is when an entity that begins now can be
   * idle.
   */
  private long firstOfNewEntities() {
    long first = now() + idleNanos;
    // an entity that is gone causes an early check at most
    for (var entity = newEntities.get(); entity != null; entity = entity.next)
      first = Math.min(first, idleAt(entity.useState()));
    return first;
  }

  private void arm(long time) {
    try {
      timer = clock.scheduleAt(start + time, onTimer);
    } catch (Throwable failure) {
      disarm();
      throw failure;
    }
    if (isStopped) timer.cancel();
  }

  /** Marks the timer as not set, so that the next birth tries to set it. */
  private void disarm() {
    isArmed.set(false);
  }

  void stop() {
    isStopped = true;
    var lastTimer = timer;
    if (lastTimer != null) lastTimer.cancel();
  }

  /**
   * Makes all checks whose time is reached, and sets the timer for the next check. Begins again at
   * once if a manual clock has reached the next check meanwhile.
   */
  void turn() {
    long nextTime;
    do {
      long now = now();
      checkAll(newEntities.getAndSet(null), now);
      while (!checks.isEmpty() && checks.firstKey() <= now) checkAll(checks.remove(checks.firstKey()), now);
      nextTime = checks.isEmpty() ? now + idleNanos : Math.min(now + idleNanos, checks.firstKey());
    } while (!isStopped && schedule(nextTime) && now() >= nextTime && timer.cancel());
  }

  private void checkAll(Entity<K, M> head, long now) {
    for (var entity = head; entity != null;) {
      var next = entity.next;
      entity.next = null;
      try {
        check(entity, now);
      } catch (Throwable failure) { // thrown because memory is exhausted, or by user code
        push(entity);
      }
      entity = next;
    }
  }

  private void check(Entity<K, M> entity, long now) {
    for (;;) { // at most twice: an entity that was used since the first round is idle later than `now`
      long useState = entity.useStateAt(tick(now));
      if (Entity.isGone(useState)) return;
      long idleAt = idleAt(useState);
      if (idleAt > now) { // true if the entity is in use
        planCheck(entity, now, idleAt);
        return;
      }
      if (entity.hasPendingAnswers()) {
        put(entity, now + stepNanos);
        return;
      }
      if (passivation.test(entity, useState)) return;
    }
  }

  /** Plans the next check of an entity that cannot be idle before {@code idleAt}. */
  private void planCheck(Entity<K, M> entity, long now, long idleAt) {
    for (long step = stepNanos; step > TICK_NANOS; step /= STEPS) {
      long stepStart = idleAt - idleAt % step;
      if (stepStart > now) {
        put(entity, stepStart);
        return;
      }
    }
    put(entity, idleAt);
  }

  private void put(Entity<K, M> entity, long time) {
    checks.merge(time, entity, (head, added) -> {
      added.next = head;
      return added;
    });
  }

  /** Sets the timer. If no entity is alive, sets no timer and returns false. */
  private boolean schedule(long time) {
    if (checks.isEmpty()) {
      isArmed.set(false);
      if (newEntities.get() == null || !isArmed.compareAndSet(false, true)) return false;
    }
    arm(time);
    return true;
  }
}
