package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.block.Throwables;
import io.fibry.spi.StableAddress;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;

/** The address of a key. Each call goes to the actor that the key has at that moment. */
record EntityAddress<K, M, R>(DefaultEntities<K, M, R> entities, K key)
    implements EntityTimers.NotifyingAddress<M>, ActorWithReturn<M, R>, StableAddress {

  @Override
  public Exitable owner() {
    return entities;
  }

  @Override
  public ActorBuilder<Object> beside() {
    return entities.helperActors.siblingBuilder();
  }

  @Override
  public boolean sendMessage(M message) {
    return sendMessage(message, () -> {});
  }

  @Override
  public boolean sendMessage(M message, Runnable onFound) {
    Objects.requireNonNull(message, "message");
    return use(enter(), actor -> {
      onFound.run();
      return actor.sendMessage(message);
    });
  }

  @Override
  public boolean sendMessages(List<? extends M> block) {
    if (Objects.requireNonNull(block, "block").isEmpty()) return !entities.isEnding();
    return use(enter(), actor -> actor.sendMessages(block));
  }

  @Override
  public void execute(Runnable task) {
    Objects.requireNonNull(task, "task");
    use(enter(), actor -> {
      actor.execute(task);
      return null;
    });
  }

  /**
   * Enters the entity of the key. Returns null if the entities have ended, or if this thread was
   * interrupted while it waited.
   */
  private Entity<K, M> enter() {
    try {
      return entities.enter(key, UseLimit.NONE);
    } catch (CancellationException failure) {
      if (Thread.currentThread().isInterrupted()) return null;
      throw failure;
    }
  }

  /**
   * Runs code with the actor, and leaves the entity. If {@code entity} is null, the code gets an
   * ended actor.
   */
  private <T> T use(Entity<K, M> entity, Function<Actor<M>, T> code) {
    if (entity == null) return code.apply(entities.helperActors.endedActor(name()));
    try {
      return code.apply(entity.actor());
    } finally {
      entities.leave(entity);
    }
  }

  @Override
  public <Q extends M, A> CompletableFuture<A> sendMessageReturn(Request<Q, A> request) {
    return sendRequest(request, actor -> actor.sendMessageReturn(request));
  }

  @Override
  public CompletableFuture<R> sendMessageReturn(M message) {
    return sendRequest(message, actor -> withReturn(actor).sendMessageReturn(message));
  }

  @Override
  public <Q extends M, A> CompletableFuture<A> sendMessageReturn(Request<Q, A> request, Duration limit) {
    return sendRequest(request, limit, (actor, time) -> actor.sendMessageReturn(request, time));
  }

  @Override
  public CompletableFuture<R> sendMessageReturn(M message, Duration limit) {
    return sendRequest(message, limit, (actor, time) -> withReturn(actor).sendMessageReturn(message, time));
  }

  private <A> CompletableFuture<A> sendRequest(Object request, Function<Actor<M>, CompletableFuture<A>> sendToActor) {
    Objects.requireNonNull(request, "request");
    return sendRequest(entities.enter(key, UseLimit.NONE), sendToActor);
  }

  /**
   * Sends a request. Its limit includes the wait for the birth of the actor, or for the end of the
   * previous actor of the key.
   */
  private <A> CompletableFuture<A> sendRequest(Object request, Duration limit,
      BiFunction<Actor<M>, Duration, CompletableFuture<A>> sendToActor) {
    Objects.requireNonNull(request, "request");
    Objects.requireNonNull(limit, "limit");
    var entity = entities.enter(key, UseLimit.NO_WAIT);
    if (entity != null || !limit.isPositive()) // the actor refuses a limit of zero
      return sendRequest(entity, actor -> sendToActor.apply(actor, limit));
    var useLimit = UseLimit.of(entities.helperActors.clock(), limit);
    var awaitedEntity = entities.enter(key, useLimit);
    var remaining = useLimit.remaining();
    if (awaitedEntity == null && remaining.isZero() && !entities.isEnding())
      return CompletableFuture.failedFuture(timeout(request, limit));
    return sendRequest(awaitedEntity,
        actor -> sendToActor.apply(actor, remaining.isZero() ? Duration.ofNanos(1) : remaining));
  }

  private AskTimeoutException timeout(Object request, Duration limit) {
    return new AskTimeoutException("actor '" + name() + "' was not asked "
        + entities.helperActors.describeRequest(request)
        + " within " + Durations.text(limit)
        + ", because it was still being made, or the previous actor of its key was "
        + "ending; give a longer limit if that may take longer", name(), request, limit, null, RequestOutcome.NOT_DONE);
  }

  private <A> CompletableFuture<A> sendRequest(Entity<K, M> entity,
      Function<Actor<M>, CompletableFuture<A>> sendToActor) {
    return use(entity, actor -> {
      var answer = sendToActor.apply(actor);
      if (entity != null && !answer.isDone()) entity.addPendingAnswer(answer);
      return answer;
    });
  }

  @SuppressWarnings("unchecked") // only Entities.WithReturn shows this address as an ActorWithReturn
  private ActorWithReturn<M, R> withReturn(Actor<M> actor) {
    return (ActorWithReturn<M, R>) actor;
  }

  @Override
  public <Q extends M, A> A ask(Request<Q, A> request) {
    return ask(request, null, actor -> actor.ask(request));
  }

  @Override
  public <Q extends M, A> A ask(Request<Q, A> request, Duration limit) {
    Objects.requireNonNull(limit, "limit");
    return ask(request, limit, actor -> actor.ask(request, limit));
  }

  @Override
  public R ask(M message) {
    return ask(message, null, actor -> withReturn(actor).ask(message));
  }

  @Override
  public R ask(M message, Duration limit) {
    Objects.requireNonNull(limit, "limit");
    return ask(message, limit, actor -> withReturn(actor).ask(message, limit));
  }

  /** Asks the actor. A limit of null means the limit of the scope. */
  private <A> A ask(Object request, Duration limit, Function<Actor<M>, A> askActor) {
    Objects.requireNonNull(request, "request");
    var entity = entities.enter(key, UseLimit.NO_WAIT);
    if (entity != null) return use(entity, askActor);
    return ask(relay(askActor), request, limit);
  }

  private static <A> A ask(ActorWithReturn<Object, EntityAnswer<A>> relay, Object request, Duration limit) {
    try {
      var outcome = limit == null ? relay.ask(request) : relay.ask(request, limit);
      if (outcome.failure != null) throw Throwables.<RuntimeException>sneakyThrow(outcome.failure);
      return outcome.value;
    } finally {
      relay.askExit();
    }
  }

  /** The relay's answer: the answer of the actor, or the exception that the asker gets instead. */
  private record EntityAnswer<A>(A value, Throwable failure) {}

  /**
   * Makes an actor that waits for the entity and asks the entity's actor in place of the caller. So
   * the limit covers both the wait and the answer, and cycles of waits are found.
   */
  private <A> ActorWithReturn<Object, EntityAnswer<A>> relay(Function<Actor<M>, A> askActor) {
    return entities.helperActors.relay(name(), (request, context) -> {
      try {
        return new EntityAnswer<>(use(entities.enter(key, UseLimit.NONE), actor -> {
          if (context.isCancelled()) throw new CancellationException("the asker no longer waits");
          return askActor.apply(actor);
        }), null);
      } catch (Throwable failure) {
        return new EntityAnswer<>(null, failure);
      }
    });
  }

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return entities.timers.start(this, null, message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object timerKey, M message, Duration delay) {
    return entities.timers.start(this, Objects.requireNonNull(timerKey, "key"), message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return entities.timers.start(this, null, message, period, true);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object timerKey, M message, Duration period) {
    return entities.timers.start(this, Objects.requireNonNull(timerKey, "key"), message, period, true);
  }

  @Override
  public void askExit() {
    entities.end(key, EntityEndMode.STOP);
  }

  @Override
  public void sendPoisonPill() {
    entities.end(key, EntityEndMode.FINISH);
  }

  @Override
  public void kill() {
    entities.end(key, EntityEndMode.KILL);
  }

  @Override
  public void close() {
    entities.close(key);
  }

  @Override
  public void waitForExit() {
    var actor = entities.find(key);
    if (actor != null) actor.waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return entities.waitForExit(key, limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return existingActor().onExit();
  }

  @Override
  public ActorWithReturn<M, R> closeOnExit(AutoCloseable... resources) {
    existingActor().closeOnExit(resources);
    return this;
  }

  private Actor<M> existingActor() {
    var actor = entities.find(key);
    return actor == null ? entities.helperActors.endedActor(name()) : actor;
  }

  @Override
  public String name() {
    return EntityHelpers.name(key);
  }

  @Override
  public String toString() {
    return name();
  }
}
