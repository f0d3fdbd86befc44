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
import io.fibry.text.SafeLogger;
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

/**
 * The live entities, in a scope of their own. A birth is a call of the user's factory, which makes
 * an actor. The sweeper is an actor that turns the {@link IdleWheel}; when the sweeper has ended,
 * the entities have ended.
 */
final class DefaultEntities<K, M, R> extends ForwardingExitable<Entities.WithReturn<K, M, R>>
    implements Entities.WithReturn<K, M, R> {
  private static final Logger LOG = SafeLogger.of(Entities.class);

  private final ActorScope scope; // owns the sweeper and the actors that are born
  private final Function<K, Actor<M>> factory;
  // includes entities that are being born or are ending
  private final ConcurrentHashMap<K, Entity<K, M>> liveEntities = new ConcurrentHashMap<>();
  private final Sink<Void> sweeper;
  final EntityHelpers helperActors;
  final EntityTimers timers;
  private final IdleWheel<K, M> wheel;
  private final EndPermits endPermits;
  private final AtomicBoolean isAwaitAllQueued = new AtomicBoolean(); // false -> true, by the first call of `end`
  private final CompletableFuture<Void> killSignal = new CompletableFuture<>();
  // null until an end is requested; written under the monitor, and only with a later constant
  private volatile EntityEndMode endMode;

  <B> DefaultEntities(ActorBuilder<B> builder, Duration idleTime,
      BiFunction<ActorBuilder<B>, K, ? extends Actor<M>> factory) {
    Objects.requireNonNull(factory, "birth");
    var outerBuilder = BlockBuilder.of(Objects.requireNonNull(builder, "builder"));
    this.wheel = new IdleWheel<>(idleTime, outerBuilder.scheduler(), this::onTimer, this::passivate);
    var innerBuilder = outerBuilder.inNewScope("entities");
    boolean isNamed = innerBuilder.name().isPresent();
    this.factory = key -> factory.apply(isNamed ? innerBuilder.child(key.toString()) : innerBuilder, key);
    this.scope = innerBuilder.scope();
    this.helperActors = new EntityHelpers(outerBuilder, scope);
    this.timers = new EntityTimers(helperActors);
    this.endPermits = new EndPermits(this::toString, helperActors.clock());
    this.sweeper =
        BlockBuilder.of(innerBuilder.name().map(scope::named).orElseGet(scope::anonymous)).excludedFromAccounts()
            .strategy(Strategy.FIBER)
            .mailbox(Mailbox.unbounded()).newSink();
    scope.onClosing(this::sendPoisonPill); // runs before the scope sends pills to its actors
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
   * Enters the entity of a key, and makes its actor if needed. The entity is not passivated before
   * {@link #leave}. Returns null if the entities are ending, or if a birth or an end takes longer
   * than the limit.
   */
  Entity<K, M> enter(K key, UseLimit limit) {
    SendStackProbe.probe(); // throws here if the stack is nearly full, because `leave` must not fail
    while (endMode == null) {
      var entity = liveEntities.get(key);
      if (entity == null) {
        var newEntity = new Entity<K, M>(key, wheel.currentTick());
        if (liveEntities.putIfAbsent(key, newEntity) == null) {
          if (!create(newEntity)) return null;
          if (!newEntity.isGone()) return newEntity;
        }
      } else if (entity.enter()) {
        var pending = entity.creation();
        if (pending != null) {
          if (!awaitCreation(entity, pending, limit)) return null;
          if (entity.actor() != null && !entity.isGone()) return entity;
        } else if (takesMessages(entity.actor())) return entity;
        else entity.markGone(); // the actor ended by itself
      } else if (!awaitEnd(entity, limit)) return null;
    }
    return null;
  }

  void leave(Entity<K, M> entity) {
    entity.leave(wheel.currentTick());
    // an end that was requested during the birth takes effect here, after the creator's message
    if (entity.earlyEnd() == EntityEndMode.FINISH) endQuietly(entity, EntityEndMode.FINISH.signal);
  }

  /**
   * Makes the actor of an added entity, and then reads {@code endMode}. A thread that ends all
   * entities sets {@code endMode}, and then reads the entities. So at least one of the two threads
   * ends the actor. Returns false if the entities are ending.
   */
  private boolean create(Entity<K, M> entity) {
    var pending = entity.creation();
    try {
      if (endMode == null) entity.setActor(Objects.requireNonNull(factory.apply(entity.key),
          () -> "the birth of " + EntityHelpers.name(entity.key) + " returned null; let it return an actor"));
      else forget(entity);
      pending.complete(null);
    } catch (Throwable failure) {
      forget(entity);
      boolean isScopeClosed = failure instanceof IllegalStateException && scope.isClosed();
      pending.complete(isScopeClosed ? null : failure);
      if (isScopeClosed) return false;
      throw failure;
    }
    if (endMode == null) {
      var earlyEnd = entity.earlyEnd();
      if (earlyEnd == null || earlyEnd == EntityEndMode.FINISH) add(entity);
      else endQuietly(entity, earlyEnd.signal);
      return true;
    }
    if (entity.actor() != null) endQuietly(entity, endMode.signal);
    return false;
  }

  private void add(Entity<K, M> entity) {
    try {
      wheel.add(entity);
    } catch (Throwable failure) {
      // even an Error: if it were thrown, the creator would never call `leave`, and the actor would
      // never be passivated
      LOG.error("{} could not set the timer that ends idle actors; they stay alive until the next actor is made", this,
          failure);
    }
  }

  /**
   * Removes an entity that has no actor, and marks the entity as gone, so that no thread can enter
   * it.
   */
  private void forget(Entity<K, M> entity) {
    liveEntities.remove(entity.key, entity);
    entity.markGone();
  }

  private boolean awaitCreation(Entity<K, M> entity, EntityCreation pending, UseLimit limit) {
    boolean isOver = false;
    try {
      if (limit == UseLimit.NO_WAIT) pending.refuseCycle();
      else if (limit == UseLimit.NONE || pending.awaitFor(limit.remaining(), limit.clock())) {
        pending.await();
        isOver = true;
      }
    } finally {
      if (!isOver) leave(entity);
    }
    return isOver;
  }

  /**
   * Returns whether the actor accepts messages. Sends an empty list, because this needs no memory.
   * A call of {@code onExit} would add a few hundred bytes to the actor until its end.
   */
  private static boolean takesMessages(Actor<?> actor) {
    try {
      return actor.sendMessages(List.of());
    } catch (UnsupportedOperationException noLists) { // thrown by pools and by priority mailboxes
      return !actor.onExit().isDone();
    }
  }

  private boolean awaitEnd(Entity<K, M> entity, UseLimit limit) {
    if (limit == UseLimit.NO_WAIT) return false;
    var actor = entity.actor();
    if (actor != null) {
      actor.sendPoisonPill(); // again, because there may have been no memory for the first pill
      if (limit == UseLimit.NONE) actor.waitForExit();
      else if (!actor.waitForExit(Duration.ZERO) && !awaitByClock(actor.onExit(), limit)) return false;
    }
    liveEntities.remove(entity.key, entity);
    return true;
  }

  /**
   * Waits for the end of an actor by the clock of the limit. {@code waitForExit} would measure the
   * limit by the clock of the machine; with a limit of zero it only refuses a cycle of waits.
   */
  private static boolean awaitByClock(CompletableFuture<?> exit, UseLimit limit) {
    try {
      return limit.clock().awaitDone(exit, limit.remaining());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for the end of an actor");
    }
  }

  // ---- the end of one entity

  /**
   * Waits for a pending birth. Returns the actor of the key, which may be ending, or null if the
   * key has none.
   */
  Actor<M> find(K key) {
    var entity = liveEntities.get(key);
    if (entity == null) return null;
    var pending = entity.creation();
    if (pending != null) pending.awaitFailure();
    return entity.actor();
  }

  /**
   * Ends the current actor of the key. An actor that is being made is ended as soon as it exists.
   */
  void end(K key, EntityEndMode mode) {
    var entity = liveEntities.get(key);
    if (entity != null && !entity.requestEarlyEnd(mode)) end(entity, mode.signal);
  }

  boolean waitForExit(K key, Duration limit) {
    Objects.requireNonNull(limit, "limit");
    var entity = liveEntities.get(key);
    var pending = entity == null ? null : entity.creation();
    var useLimit = UseLimit.of(helperActors.clock(), limit);
    if (pending != null && !pending.awaitFor(limit, useLimit.clock())) return false;
    var actor = entity == null ? null : entity.actor();
    if (actor == null) return true;
    return actor.waitForExit(useLimit.remaining());
  }

  void close(K key) {
    var entity = liveEntities.get(key);
    if (entity == null) return;
    var pending = entity.creation();
    if (pending != null) pending.refuseCycle();
    if (!entity.requestEarlyEnd(EntityEndMode.FINISH)) end(entity, Exitable::close);
    else {
      var actor = find(key);
      if (actor != null) actor.waitForExit();
    }
  }

  /**
   * Ends the actor. The entity is marked as gone before the signal, so that later uses wait for the
   * end.
   */
  private void end(Entity<K, M> entity, Consumer<Exitable> signal) {
    entity.markGone();
    var actor = entity.actor();
    actor.onExit().whenComplete((reason, failure) -> liveEntities.remove(entity.key, entity));
    signal.accept(actor);
    if (actor.onExit().isDone()) liveEntities.remove(entity.key, entity); // true after `close`, which waits
  }

  /** Ends the actor, and logs failures. */
  private void endQuietly(Entity<K, M> entity, Consumer<Exitable> signal) {
    try {
      end(entity, signal);
    } catch (Throwable failure) { // even an OutOfMemoryError: a thread that waits for the end sends the pill again
      LOG.error("{} could not be ended", EntityHelpers.name(entity.key), failure);
    }
  }

  // ---- idle actors

  /**
   * Called on the clock's thread at the time of a check. The monitor keeps a turn of the wheel from
   * being queued behind {@link #awaitAll}, which ends the sweeper.
   */
  private synchronized void onTimer() {
    if (endMode == null) runOnSweeper(this::sweep);
  }

  private void sweep() {
    if (endMode == null) wheel.turn();
  }

  private boolean passivate(Entity<K, M> entity, long expectedUseState) {
    var permit = endPermits.acquire();
    boolean isIdle = entity.passivate(expectedUseState);
    if (isIdle) finish(entity, permit);
    else permit.release();
    return isIdle;
  }

  /** Ends the actor by a poison pill, and releases the permit when the actor has ended. */
  private void finish(Entity<K, M> entity, Semaphore permit) {
    try {
      entity.actor().onExit().whenComplete((reason, failure) -> permit.release());
    } catch (Throwable failure) {
      permit.release();
      LOG.error("the end of {} could not be watched", EntityHelpers.name(entity.key), failure);
    }
    endQuietly(entity, Exitable::sendPoisonPill);
  }

  // ---- the end of all entities

  boolean isEnding() {
    return endMode != null;
  }

  private void end(EntityEndMode mode) {
    synchronized (this) {
      if (endMode == null || endMode.compareTo(mode) < 0) endMode = mode;
    }
    timers.end();
    wheel.stop();
    if (mode != EntityEndMode.FINISH)
      for (var entity : liveEntities.values()) if (entity.actor() != null) endQuietly(entity, mode.signal);
    if (mode == EntityEndMode.KILL) killSignal.complete(null);
    if (isAwaitAllQueued.compareAndSet(false, true)) runOnSweeper(this::awaitAll);
  }

  private void runOnSweeper(Runnable task) {
    try {
      sweeper.execute(task);
    } catch (RejectedExecutionException ended) {} // the sweeper has ended, so all entities have ended
  }

  /**
   * Runs on the sweeper's thread: waits until all entities have ended, and then ends the sweeper.
   */
  private void awaitAll() {
    for (var entity : liveEntities.values())
      if (entity.actor() != null && endMode == EntityEndMode.FINISH) finish(entity, endPermits.acquire());
    while (!liveEntities.isEmpty()) liveEntities.values().forEach(this::awaitBirthAndEnd);
    // if the scope is closing, the scope itself sends the pill to the sweeper; this thread sends
    // none, so that the exit reason is always the same
    if (endMode != EntityEndMode.FINISH || !scope.isClosed()) endMode.signal.accept(sweeper);
  }

  private void awaitBirthAndEnd(Entity<K, M> entity) {
    try {
      var pending = entity.creation();
      // does not wait for the birth after a kill, because then the creator of the actor kills it
      if (pending != null) CompletableFuture.anyOf(pending.completion, killSignal).join();
      awaitEnd(entity, UseLimit.NONE);
    } catch (RuntimeException failure) {
      // If the exception is an AskCycleException, this actor waits for the end of all entities, so
      // the sweeper does not wait for it. If it is a CancellationException, the sweeper was
      // interrupted, and the scope ends the actor.
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
    } catch (AskCycleException failure) {
      // a cycle of three names means that an actor of these entities has called this method; it
      // must not wait for its own end
      if (failure.cycle().size() > 3) throw failure;
    }
  }

  @Override
  public String toString() {
    return "entities '" + name() + "'";
  }
}
