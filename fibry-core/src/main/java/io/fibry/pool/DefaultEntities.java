package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.Exitable;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.block.SendStackProbe;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.ForwardingExitable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The live entities, in a scope of their own. The sweeper, an actor, turns the {@link IdleWheel};
 * its end is theirs.
 */
final class DefaultEntities<K, M, R> extends ForwardingExitable<Entities.WithReturn<K, M, R>>
    implements Entities.WithReturn<K, M, R> {
  private static final Logger LOG = LoggerFactory.getLogger(Entities.class);

  private final ActorScope scope; // has the sweeper, and what the builder given to births makes
  private final Function<K, Actor<M>> factory;
  // also those being born or ending
  private final ConcurrentHashMap<K, Entity<K, M>> liveEntities = new ConcurrentHashMap<>();
  private final Sink<Void> sweeper;
  final EntityHelpers helpers;
  final EntityTimers timers;
  private final IdleWheel<K, M> wheel;
  private final EndPermits endPermits;
  private final AtomicBoolean ending = new AtomicBoolean(); // false -> true, by the first end
  private final CompletableFuture<Void> killed = new CompletableFuture<>();
  private volatile EntityEndMode end; // null while it is alive; written under the monitor, and only to a later phase

  <B> DefaultEntities(ActorBuilder<B> builder, Duration idle,
      BiFunction<ActorBuilder<B>, K, ? extends Actor<M>> factory) {
    Objects.requireNonNull(factory, "birth");
    var home = BlockBuilder.of(Objects.requireNonNull(builder, "builder"));
    this.wheel = new IdleWheel<>(idle, home.scheduler(), this::due, this::passivate);
    var inside = home.inNewScope("entities");
    boolean named = inside.name().isPresent();
    this.factory = key -> factory.apply(named ? inside.child(key.toString()) : inside, key);
    this.scope = inside.scope();
    this.helpers = new EntityHelpers(home, scope);
    this.timers = new EntityTimers(helpers);
    this.endPermits = new EndPermits(this::toString, helpers.clock());
    this.sweeper =
        BlockBuilder.of(inside.name().map(scope::named).orElseGet(scope::anonymous)).excludedFromAccounts()
            .strategy(Strategy.FIBER)
            .mailbox(Mailbox.unbounded()).newSink();
    scope.onClosing(this::sendPoisonPill); // comes before the scope's own pills
    sweeper.onExit().thenRun(scope::close);
  }

  @Override
  public ActorWithReturn<M, R> actor(K key) {
    return new EntityAddress<>(this, Objects.requireNonNull(key, "key"));
  }

  @Override
  public long size() {
    return liveEntities.mappingCount();
  }

  // ---- use

  /**
   * Makes the actor if needed; it is not passivated before {@link #leave}. Returns null if the
   * entities end, or if {@code waits} is false but there is a birth or an end to wait for.
   */
  Entity<K, M> enter(K key, boolean waits) {
    SendStackProbe.probe(); // the thread must be able to leave
    while (end == null) {
      var entity = liveEntities.get(key);
      if (entity == null) {
        var fresh = new Entity<K, M>(key, wheel.now());
        if (liveEntities.putIfAbsent(key, fresh) == null) {
          if (!create(fresh)) return null;
          if (!fresh.isGone()) return fresh;
        }
      } else if (entity.enter()) {
        var pending = entity.creation();
        if (pending != null) {
          if (!awaitCreation(entity, pending, waits)) return null;
          if (entity.actor() != null && !entity.isGone()) return entity;
        } else if (takesMessages(entity.actor())) return entity;
        else entity.retire(); // ended by itself
      } else if (!waits) return null;
      else awaitEnd(entity);
    }
    return null;
  }

  void leave(Entity<K, M> entity) {
    entity.leave(wheel.now());
    // after the message of the creator
    if (entity.earlyEnd() == EntityEndMode.FINISH) endQuietly(entity, EntityEndMode.FINISH.signal);
  }

  /**
   * Adds the entity, then looks at {@code end}; an end sets that, then looks for entities. So one
   * of them ends the actor.
   */
  private boolean create(Entity<K, M> entity) {
    var pending = entity.creation();
    try {
      if (end == null) entity.setActor(Objects.requireNonNull(factory.apply(entity.key),
          () -> "the birth of " + EntityHelpers.name(entity.key) + " returned null; let it return an actor"));
      else forget(entity);
      pending.end(null);
    } catch (Throwable failure) {
      forget(entity);
      boolean closed = failure instanceof IllegalStateException && scope.isClosed();
      pending.end(closed ? null : failure);
      if (closed) return false;
      throw failure;
    }
    if (end == null) {
      var early = entity.earlyEnd();
      if (early == null || early == EntityEndMode.FINISH) add(entity);
      else endQuietly(entity, early.signal);
      return true;
    }
    if (entity.actor() != null) endQuietly(entity, end.signal);
    return false;
  }

  private void add(Entity<K, M> entity) {
    try {
      wheel.add(entity);
    } catch (RuntimeException noTimer) {
      LOG.error("{} could not set the timer that finds idle actors; they stay alive until the next one is made", this,
          noTimer);
    }
  }

  /** Removed first, so that no thread can enter. */
  private void forget(Entity<K, M> entity) {
    liveEntities.remove(entity.key, entity);
    entity.retire();
  }

  private boolean awaitCreation(Entity<K, M> entity, EntityCreation pending, boolean waits) {
    boolean over = false;
    try {
      if (waits) pending.await();
      else pending.refuseCycle();
      over = waits;
    } finally {
      if (!over) leave(entity);
    }
    return over;
  }

  /** An empty block costs nothing, {@code onExit} a few hundred bytes for good. */
  private static boolean takesMessages(Actor<?> actor) {
    try {
      return actor.sendMessages(List.of());
    } catch (UnsupportedOperationException noBlocks) {
      return !actor.onExit().isDone();
    }
  }

  private void awaitEnd(Entity<K, M> entity) {
    var actor = entity.actor();
    if (actor != null) {
      actor.sendPoisonPill(); // again: there may have been no memory for the first
      actor.waitForExit();
    }
    liveEntities.remove(entity.key, entity);
  }

  // ---- one end

  /** Returns the present actor, alive or ending, once it is made, or null if there is none. */
  Actor<M> find(K key) {
    var entity = liveEntities.get(key);
    if (entity == null) return null;
    var pending = entity.creation();
    if (pending != null) pending.outcome();
    return entity.actor();
  }

  /** Ends the present actor; an actor that is being made is ended as soon as it exists. */
  void end(K key, EntityEndMode wanted) {
    var entity = liveEntities.get(key);
    if (entity != null && !entity.endOnceCreated(wanted)) end(entity, wanted.signal);
  }

  boolean waitForExit(K key, Duration limit) {
    var entity = liveEntities.get(key);
    var pending = entity == null ? null : entity.creation();
    long start = helpers.clock().nanoTime();
    if (pending != null && !pending.awaitFor(limit, helpers.clock())) return false;
    var actor = entity == null ? null : entity.actor();
    if (actor == null) return true;
    var left = pending == null ? limit : limit.minusNanos(helpers.clock().nanoTime() - start);
    return actor.waitForExit(left.isNegative() ? Duration.ZERO : left);
  }

  void close(K key) {
    var entity = liveEntities.get(key);
    if (entity == null) return;
    var pending = entity.creation();
    if (pending != null) pending.refuseCycle();
    if (!entity.endOnceCreated(EntityEndMode.FINISH)) end(entity, Exitable::close);
    else {
      var actor = find(key);
      if (actor != null) actor.waitForExit();
    }
  }

  /** Retires first, so that uses wait for the end. */
  private void end(Entity<K, M> entity, Consumer<Exitable> signal) {
    entity.retire();
    var actor = entity.actor();
    actor.onExit().whenComplete((reason, failure) -> liveEntities.remove(entity.key, entity));
    signal.accept(actor);
    if (actor.onExit().isDone()) liveEntities.remove(entity.key, entity); // a close waited for it
  }

  /** Logs failures. */
  private void endQuietly(Entity<K, M> entity, Consumer<Exitable> signal) {
    try {
      end(entity, signal);
    } catch (Throwable failure) { // also of memory: a thread that waits for the end asks again
      LOG.error("{} could not be ended", EntityHelpers.name(entity.key), failure);
    }
  }

  // ---- idle actors

  /** Under the monitor: when the end is decided, no turn comes to the sweeper any more. */
  private synchronized void due() {
    if (end == null) onSweeper(this::sweep);
  }

  private void sweep() {
    if (end == null) wheel.turn();
  }

  private boolean passivate(Entity<K, M> entity, long seen) {
    var permit = endPermits.acquire();
    boolean idle = entity.passivate(seen);
    if (idle) finish(entity, permit);
    else permit.release();
    return idle;
  }

  /** Releases the permit at the actor's end. */
  private void finish(Entity<K, M> entity, Semaphore permit) {
    try {
      entity.actor().onExit().whenComplete((reason, failure) -> permit.release());
    } catch (Throwable noMemory) {
      permit.release();
      LOG.error("the end of {} could not be watched", EntityHelpers.name(entity.key), noMemory);
    }
    endQuietly(entity, Exitable::sendPoisonPill);
  }

  // ---- the end of all

  boolean isEnding() {
    return end != null;
  }

  private void end(EntityEndMode wanted) {
    synchronized (this) {
      if (end == null || end.compareTo(wanted) < 0) end = wanted;
    }
    timers.end();
    wheel.stop();
    if (wanted != EntityEndMode.FINISH)
      for (var entity : liveEntities.values()) if (entity.actor() != null) endQuietly(entity, wanted.signal);
    if (wanted == EntityEndMode.KILL) killed.complete(null);
    if (ending.compareAndSet(false, true)) onSweeper(this::awaitAll);
  }

  private void onSweeper(Runnable task) {
    try {
      sweeper.execute(task);
    } catch (RejectedExecutionException ended) {} // there is no more work
  }

  /** On the sweeper's thread. */
  private void awaitAll() {
    for (var entity : liveEntities.values())
      if (entity.actor() != null && end == EntityEndMode.FINISH) finish(entity, endPermits.acquire());
    while (!liveEntities.isEmpty()) liveEntities.values().forEach(this::awaitLast);
    // a scope that closes sends the pill itself, so that the reason is always the same
    if (end != EntityEndMode.FINISH || !scope.isClosed()) end.signal.accept(sweeper);
  }

  private void awaitLast(Entity<K, M> entity) {
    try {
      var pending = entity.creation();
      // after a kill, the creator kills
      if (pending != null) CompletableFuture.anyOf(pending.end, killed).join();
      awaitEnd(entity);
    } catch (RuntimeException failure) {
      // in a ring, the actor waits for our end; after an interrupt, the scope ends it
      if (!(failure instanceof AskCycleException || failure instanceof CancellationException))
        LOG.error("the end of {} could not be waited for", EntityHelpers.name(entity.key), failure);
      liveEntities.remove(entity.key, entity);
    }
  }

  @Override
  public String name() {
    return "entities" + sweeper.name().replace("anonymous", "");
  }

  @Override
  public void askExit() {
    end(EntityEndMode.STOP);
  }

  @Override
  public void sendPoisonPill() {
    end(EntityEndMode.FINISH);
  }

  @Override
  public void kill() {
    end(EntityEndMode.KILL);
  }

  @Override
  protected Exitable target() {
    return sweeper;
  }

  @Override
  public void close() {
    sendPoisonPill();
    try {
      waitForExit();
    } catch (AskCycleException ring) {
      // in a ring of three, one of our actors waits for us
      if (ring.cycle().size() > 3) throw ring;
    }
  }

  @Override
  public String toString() {
    return "entities '" + name() + "'";
  }
}
