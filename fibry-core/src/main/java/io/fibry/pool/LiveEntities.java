package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who is alive, by key. What each use goes through is {@link #enter}; who was not used is found by
 * the {@link IdleWheel}, which an actor of its own turns: that actor is also the end of it all.
 */
final class LiveEntities<K, M> implements Entities<K, M> {
  static final Logger LOG = LoggerFactory.getLogger(Entities.class);

  /** How it all ends, each overruling those before. */
  private enum End {
    FINISH(Exitable::sendPoisonPill), STOP(Exitable::askExit), KILL(Exitable::kill);

    private final Consumer<Exitable> how;

    End(Consumer<Exitable> how) {
      this.how = how;
    }
  }

  // so many save their state at once, at most: a million would each have a thread
  private static final int LEAVING = 1_000;

  private final Scheduler clock;
  private final Function<K, Actor<M>> birth;
  // with those being born, and those ending, until they have
  private final ConcurrentHashMap<K, Entity<K, M>> living = new ConcurrentHashMap<>();
  // due later
  private final ConcurrentHashMap<Object, EntityTimer<K, M>> timers = new ConcurrentHashMap<>();
  private final Sink<Void> sweeper =
      ActorSystem.anonymous().strategy(Strategy.FIBER).mailbox(Mailbox.unbounded()).newSink();
  private final IdleWheel<K, M> wheel;
  private final Semaphore room = new Semaphore(LEAVING); // for who leaves
  // false -> true, by who lets the sweeper wait for all
  private final AtomicBoolean ending = new AtomicBoolean();
  private final CompletableFuture<Void> killed = new CompletableFuture<>();
  private volatile End end; // null: it goes on. Written under the monitor, only upwards

  LiveEntities(Duration idle, Scheduler clock, Function<K, Actor<M>> birth) {
    this.clock = Objects.requireNonNull(clock, "clock");
    this.birth = Objects.requireNonNull(birth, "birth");
    this.wheel = new IdleWheel<>(Objects.requireNonNull(idle, "idle"), clock, this::due, this::passivate);
  }

  @Override
  public Actor<M> actor(K key) {
    return new EntityAddress<>(this, Objects.requireNonNull(key, "key"));
  }

  @Override
  public long size() {
    return living.mappingCount();
  }

  // ---- use

  /**
   * Comes in: the actor of this key is alive, and nobody passivates it until {@link #leave}. Makes
   * it, if there is none. Waits where one is being born, or ending, if it may; else null. Null also
   * where these entities have ended.
   */
  Entity<K, M> enter(K key, boolean waits) {
    while (end == null) {
      var entity = living.get(key);
      if (entity == null) {
        var fresh = new Entity<K, M>(key, wheel.now());
        if (living.putIfAbsent(key, fresh) == null) return bear(fresh) ? fresh : null;
      } else if (entity.enter()) {
        var pending = entity.birth();
        if (pending != null) {
          if (!awaitBirth(entity, pending, waits)) return null;
          if (entity.actor() != null) return entity;
        } else if (takesMessages(entity.actor())) return entity;
        else entity.retire(); // it has ended, by itself
      } else if (!waits) return null;
      else awaitEnd(entity);
    }
    return null;
  }

  void leave(Entity<K, M> entity) {
    entity.leave(wheel.now());
  }

  /**
   * Looks for the end after it is known: who ends it all looks for those that are known after he
   * says so.
   */
  private boolean bear(Entity<K, M> entity) {
    var pending = entity.birth();
    try {
      if (end == null) entity.born(Objects.requireNonNull(birth.apply(entity.key),
          () -> "the birth of entity " + entity.key + " gave null; let it give an actor"));
      else forget(entity);
      pending.end();
    } catch (Throwable failure) {
      forget(entity);
      pending.fail(failure);
      throw failure;
    }
    if (end == null) {
      add(entity);
      return true;
    }
    if (entity.actor() != null) endQuietly(entity, end.how);
    return false;
  }

  private void add(Entity<K, M> entity) {
    try {
      wheel.add(entity);
    } catch (RuntimeException noTimer) {
      LOG.error(
          "the clock of {} could not set the timer that finds the idle; they stay alive until the next one is born",
          this, noTimer);
    }
  }

  /** It was never born: nobody finds it any more, then nobody can come in. */
  private void forget(Entity<K, M> entity) {
    living.remove(entity.key, entity);
    entity.retire();
  }

  private boolean awaitBirth(Entity<K, M> entity, EntityBirth pending, boolean waits) {
    boolean over = false;
    try {
      if (waits) pending.await();
      else pending.refuseRing();
      over = waits;
    } finally {
      if (!over) leave(entity);
    }
    return over;
  }

  /** Costs the actor nothing, while its `onExit` would cost it a few hundred bytes for good. */
  private static boolean takesMessages(Actor<?> actor) {
    try {
      return actor.sendMessages(List.of());
    } catch (UnsupportedOperationException noBlocks) {
      return !actor.onExit().isDone();
    }
  }

  private void awaitEnd(Entity<K, M> entity) {
    var actor = entity.actor();
    if (actor != null) actor.waitForExit();
    living.remove(entity.key, entity);
  }

  // ---- the end of one

  /** The actor that lives now, or is ending; null: none. */
  Actor<M> find(K key) {
    var entity = living.get(Objects.requireNonNull(key, "key"));
    return entity == null ? null : entity.actor();
  }

  /** Ends the one that lives now. */
  void end(K key, Consumer<Exitable> how) {
    var entity = living.get(key);
    if (entity != null && entity.actor() != null) end(entity, how);
  }

  /** Gone first: who finds it so waits for its end. */
  private void end(Entity<K, M> entity, Consumer<Exitable> how) {
    entity.retire();
    var actor = entity.actor();
    actor.onExit().whenComplete((reason, failure) -> living.remove(entity.key, entity));
    how.accept(actor);
  }

  /** For ends that nobody is told of. */
  private void endQuietly(Entity<K, M> entity, Consumer<Exitable> how) {
    try {
      end(entity, how);
    } catch (RuntimeException failure) {
      LOG.error("entity {} could not be ended", entity.key, failure);
    }
  }

  // ---- the idle

  /** On the clock's thread. */
  private void due() {
    if (end == null) sweeper.execAsync(nothing -> sweep());
  }

  private void sweep() {
    if (end == null) wheel.turn();
  }

  /** On the sweeper's thread, as soon as there is room. False: somebody used it meanwhile. */
  private boolean passivate(Entity<K, M> entity, long seen) {
    room.acquireUninterruptibly();
    boolean idle = entity.passivate(seen);
    if (idle) depart(entity);
    else room.release();
    return idle;
  }

  /** Whose room it takes, it gives back at its end. */
  private void depart(Entity<K, M> entity) {
    entity.actor().onExit().whenComplete((reason, failure) -> room.release());
    endQuietly(entity, Exitable::sendPoisonPill);
  }

  // ---- timers of addresses

  Scheduler clock() {
    return clock;
  }

  ConcurrentHashMap<Object, EntityTimer<K, M>> timers() {
    return timers;
  }

  boolean isEnding() {
    return end != null;
  }

  // ---- the end of all

  private void end(End wanted) {
    synchronized (this) {
      if (end == null || end.compareTo(wanted) < 0) end = wanted;
    }
    wheel.stop();
    for (var timer : timers.values()) timer.cancel();
    if (wanted != End.FINISH)
      for (var entity : living.values()) if (entity.actor() != null) endQuietly(entity, wanted.how);
    if (wanted == End.KILL) killed.complete(null);
    if (ending.compareAndSet(false, true)) sweeper.execAsync(nothing -> awaitAll());
  }

  /** On the sweeper's thread: then the sweeper itself ends, and so all has. */
  private void awaitAll() {
    for (var entity : living.values()) if (entity.actor() != null && end == End.FINISH) {
      room.acquireUninterruptibly();
      depart(entity);
    }
    while (!living.isEmpty()) living.values().forEach(this::awaitLast);
    end.how.accept(sweeper);
  }

  private void awaitLast(Entity<K, M> entity) {
    try {
      var pending = entity.birth();
      // who gives birth after a kill, kills
      if (pending != null) CompletableFuture.anyOf(pending.over(), killed).join();
      awaitEnd(entity);
    } catch (RuntimeException failure) {
      if (!(failure instanceof AskCycleException))
        LOG.error("the end of entity {} could not be waited for", entity.key, failure);
      living.remove(entity.key, entity); // it waits for the end of us all itself
    }
  }

  @Override
  public String name() {
    return "entities" + sweeper.name().replace("anonymous", "");
  }

  @Override
  public void askExit() {
    end(End.STOP);
  }

  @Override
  public void sendPoisonPill() {
    end(End.FINISH);
  }

  @Override
  public void kill() {
    end(End.KILL);
  }

  @Override
  public void waitForExit() {
    sweeper.waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return sweeper.waitForExit(limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return sweeper.onExit();
  }

  @Override
  public Entities<K, M> closeOnExit(AutoCloseable... resources) {
    sweeper.closeOnExit(resources);
    return this;
  }

  @Override
  public void close() {
    sendPoisonPill();
    try {
      waitForExit();
    } catch (AskCycleException ring) {
      // else it is one of ours that waits, for us, who wait for it
      if (ring.ring().size() > 3) throw ring;
    }
  }

  @Override
  public String toString() {
    return "entities '" + name() + "'";
  }
}
