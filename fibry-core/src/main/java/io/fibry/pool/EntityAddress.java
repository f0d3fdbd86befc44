package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** The address of a key: delegates to the actor that the key has now. */
record EntityAddress<K, M>(LiveEntities<K, M> entities, K key) implements EntityTimers.Address<M> {

  @Override
  public boolean sendMessage(M message) {
    return sendMessage(message, () -> {});
  }

  @Override
  public boolean sendMessage(M message, Runnable found) {
    Objects.requireNonNull(message, "message");
    return use(enter(), actor -> {
      found.run();
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

  /** Null: the entities have ended, or this thread was interrupted while it waited. */
  private Entity<K, M> enter() {
    try {
      return entities.enter(key, true);
    } catch (CancellationException failure) {
      if (Thread.currentThread().isInterrupted()) return null;
      throw failure;
    }
  }

  /** Leaves the entity afterwards; null: an ended actor. */
  private <T> T use(Entity<K, M> entity, Function<Actor<M>, T> code) {
    if (entity == null) return code.apply(Entity.ended(name()));
    try {
      return code.apply(entity.actor());
    } finally {
      entities.leave(entity);
    }
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    Objects.requireNonNull(request, "request");
    var entity = entities.enter(key, true);
    return use(entity, actor -> {
      var answer = actor.sendMessageReturn(request);
      if (entity != null && !answer.isDone()) entity.awaits(answer);
      return answer;
    });
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    return askWithin(null, request);
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    return askWithin(Objects.requireNonNull(limit, "limit"), request);
  }

  /** Null: the limit of the scope. */
  private <Q extends M, R> R askWithin(Duration limit, Request<Q, R> request) {
    Objects.requireNonNull(request, "request");
    var entity = entities.enter(key, false);
    if (entity == null) return ask(relay(limit), request, limit);
    return use(entity, actor -> ask(actor, request, limit));
  }

  private static <M, Q extends M, R> R ask(Actor<M> actor, Request<Q, R> request, Duration limit) {
    return limit == null ? actor.ask(request) : actor.ask(request, limit);
  }

  /** Waits and asks for us: so the limit covers both, and rings of waits are found. */
  private Actor<M> relay(Duration limit) {
    return ActorSystem.anonymous().strategy(Strategy.FIBER).mailbox(Mailbox.unbounded())
        .onFailure(FailurePolicy.goOn().withoutLog())
        .newActor((M message, ActorContext<M> context) -> relay(message, context, limit));
  }

  @SuppressWarnings("unchecked") // the message is such a request
  private <Q extends M> void relay(M message, ActorContext<M> context, Duration limit) {
    var request = (Request<Q, Object>) message;
    var entity = entities.enter(key, true);
    use(entity, actor -> {
      if (!context.cancelled()) context.reply(request, ask(actor, request, limit));
      return null;
    });
  }

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return entities.timers.start(this, null, message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object timer, M message, Duration delay) {
    return entities.timers.start(this, Objects.requireNonNull(timer, "key"), message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return entities.timers.start(this, null, message, period, true);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object timer, M message, Duration period) {
    return entities.timers.start(this, Objects.requireNonNull(timer, "key"), message, period, true);
  }

  @Override
  public void askExit() {
    entities.end(key, Exitable::askExit);
  }

  @Override
  public void sendPoisonPill() {
    entities.end(key, Exitable::sendPoisonPill);
  }

  @Override
  public void kill() {
    entities.end(key, Exitable::kill);
  }

  @Override
  public void close() {
    entities.end(key, Exitable::close);
  }

  @Override
  public void waitForExit() {
    var actor = entities.find(key);
    if (actor != null) actor.waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return present().waitForExit(limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return present().onExit();
  }

  @Override
  public Actor<M> closeOnExit(AutoCloseable... resources) {
    present().closeOnExit(resources);
    return this;
  }

  private Actor<M> present() {
    var actor = entities.find(key);
    return actor == null ? Entity.ended(name()) : actor;
  }

  @Override
  public String name() {
    return "entity " + key;
  }

  @Override
  public String toString() {
    return name();
  }
}
