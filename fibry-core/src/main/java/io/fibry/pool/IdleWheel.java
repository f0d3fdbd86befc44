package io.fibry.pool;

import io.fibry.block.Arguments;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;

/**
 * Finds idle entities. The idle time is divided into eight ticks. Each entity is in the slot of the
 * first tick at which it can be idle; at that tick it is passivated or moved to a later slot. So a
 * use of an entity does not change the wheel. One thread at a time turns the wheel.
 */
final class IdleWheel<K, M> {
  private static final int TICKS = 8;
  private static final int SLOTS = TICKS + 2; // more than `idleTicks`
  private static final long MIN_TICK_NANOS = 1_000_000;

  private final Scheduler clock;
  private final Runnable onTick; // runs on the clock's thread when a tick has passed
  // passivates an entity; returns false if the entity was used after its use state was read
  private final BiPredicate<Entity<K, M>, Long> passivation;
  private final long start; // ns by the clock; the start of tick 0
  private final long tickNanos;
  private final long idleTicks; // number of ticks from the last use until the idle time is certainly over
  // a linked list; creators push entities, and a turn takes the whole list
  private final AtomicReference<Entity<K, M>> newEntities = new AtomicReference<>();
  // whether a timer is set or a turn runs; set by a creator or turn, cleared by a turn or failure
  private final AtomicBoolean isArmed = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by the thread that set `isArmed`
  private volatile boolean isStopped;
  // all fields below are used by turns only
  @SuppressWarnings("unchecked")
  private final Entity<K, M>[] slots = (Entity<K, M>[]) new Entity<?, ?>[SLOTS];
  private long lastTick; // the slots of this tick and of all earlier ticks were scanned
  private long entityCount; // number of entities in all slots

  IdleWheel(Duration idleTime, Scheduler clock, Runnable onTick, BiPredicate<Entity<K, M>, Long> passivation) {
    Arguments.requirePositive(idleTime, "idleTime",
        "entities that are idle after " + Durations.text(idleTime) + " would end before their first message");
    this.clock = clock;
    this.onTick = () -> {
      try {
        onTick.run();
      } catch (Throwable failure) {
        disarm();
        throw failure;
      }
    };
    this.passivation = passivation;
    this.start = clock.nanoTime();
    long nanos = Durations.nanos(idleTime);
    this.tickNanos = Math.max(MIN_TICK_NANOS, Math.ceilDiv(nanos, TICKS));
    this.idleTicks = Math.ceilDiv(nanos, tickNanos) + 1;
  }

  long currentTick() {
    return (clock.nanoTime() - start) / tickNanos;
  }

  /**
   * Adds an entity, and then reads {@code isArmed}. A turn that leaves no entity in the slots
   * clears {@code isArmed}, and then reads the new entities. So this thread or the turn sets the
   * timer.
   */
  void add(Entity<K, M> entity) {
    do entity.next = newEntities.get(); while (!newEntities.compareAndSet(entity.next, entity));
    if (!isArmed.get() && isArmed.compareAndSet(false, true)) arm(currentTick());
  }

  private void arm(long tick) {
    try {
      timer = clock.scheduleAt(start + (tick + 1) * tickNanos, onTick);
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
   * Scans the slots of all ticks that have passed. Scans again at once if a manual clock has
   * reached the next tick during the scan.
   */
  void turn() {
    do turn(currentTick()); while (!isStopped && scheduleNext() && currentTick() > lastTick && timer.cancel());
  }

  private void turn(long currentTick) {
    scan(newEntities.getAndSet(null), currentTick);
    for (long tick = Math.max(lastTick, currentTick - SLOTS) + 1; tick <= currentTick; tick++)
      scan(take((int) (tick % SLOTS)), currentTick);
    lastTick = currentTick;
  }

  private Entity<K, M> take(int slot) {
    var head = slots[slot];
    slots[slot] = null;
    for (var entity = head; entity != null; entity = entity.next) entityCount--;
    return head;
  }

  private void scan(Entity<K, M> head, long currentTick) {
    for (var entity = head; entity != null;) {
      var next = entity.next;
      entity.next = null;
      try {
        scanEntity(entity, currentTick);
      } catch (Throwable failure) { // thrown because memory is exhausted, or by user code
        putIntoSlot(entity, currentTick + idleTicks);
      }
      entity = next;
    }
  }

  private void scanEntity(Entity<K, M> entity, long currentTick) {
    long useState = entity.useState();
    if (Entity.isGone(useState)) return;
    long idleAt = Entity.tick(useState) + idleTicks;
    if (Entity.isUsed(useState)) putIntoSlot(entity, currentTick + idleTicks);
    else if (idleAt > currentTick) putIntoSlot(entity, idleAt);
    else if (entity.hasPendingAnswers() || !passivation.test(entity, useState))
      putIntoSlot(entity, currentTick + idleTicks);
  }

  private void putIntoSlot(Entity<K, M> entity, long tick) {
    int slot = (int) (tick % SLOTS);
    entity.next = slots[slot];
    slots[slot] = entity;
    entityCount++;
  }

  /** Sets the timer for the next tick. If no entity is alive, sets no timer and returns false. */
  private boolean scheduleNext() {
    if (entityCount == 0) {
      isArmed.set(false);
      if (newEntities.get() == null || !isArmed.compareAndSet(false, true)) return false;
    }
    arm(lastTick);
    return true;
  }
}
