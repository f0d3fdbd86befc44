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

/** The actor of a key, whoever that is. */
record EntityAddress<K, M>(LiveEntities<K, M> entities, K key) implements Actor<M> {

  // ---- sending

  @Override
  public boolean sendMessage(M message) {
    Objects.requireNonNull(message, "message");
    var entity = enter();
    if (entity == null) return ended().sendMessage(message);
    try {
      return entity.actor().sendMessage(message);
    } finally {
      entities.leave(entity);
    }
  }

  @Override
  public boolean sendMessages(List<? extends M> block) {
    if (Objects.requireNonNull(block, "block").isEmpty()) return !entities.isEnding();
    var entity = enter();
    if (entity == null) return ended().sendMessages(block);
    try {
      return entity.actor().sendMessages(block);
    } finally {
      entities.leave(entity);
    }
  }

  @Override
  public void execute(Runnable task) {
    Objects.requireNonNull(task, "task");
    var entity = enter();
    if (entity == null) ended().execute(task);
    else {
      try {
        entity.actor().execute(task);
      } finally {
        entities.leave(entity);
      }
    }
  }

  /**
   * Null: they have ended; or this thread was interrupted where it had to wait, and what it sends
   * is a dead letter.
   */
  private Entity<K, M> enter() {
    try {
      return entities.enter(key, true);
    } catch (CancellationException failure) {
      if (Thread.currentThread().isInterrupted()) return null;
      throw failure;
    }
  }

  // ---- asking

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    Objects.requireNonNull(request, "request");
    var entity = entities.enter(key, true);
    if (entity == null) return ended().sendMessageReturn(request);
    try {
      var answer = entity.actor().sendMessageReturn(request);
      if (!answer.isDone()) entity.awaits(answer);
      return answer;
    } finally {
      entities.leave(entity);
    }
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    return ask(request, null, false);
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    return ask(request, Objects.requireNonNull(limit, "limit"), true);
  }

  private <Q extends M, R> R ask(Request<Q, R> request, Duration limit, boolean limited) {
    Objects.requireNonNull(request, "request");
    var entity = entities.enter(key, false);
    if (entity == null) return limited ? patient(limit).ask(request, limit) : patient(null).ask(request);
    try {
      return limited ? entity.actor().ask(request, limit) : entity.actor().ask(request);
    } finally {
      entities.leave(entity);
    }
  }

  /**
   * Waits in our place, and then asks in our place: so that the limit holds for both, and a ring of
   * waits is found.
   */
  private Actor<M> patient(Duration limit) {
    return ActorSystem.anonymous().strategy(Strategy.FIBER).mailbox(Mailbox.unbounded())
        .onFailure(FailurePolicy.goOn().withoutLog())
        .newActor((M message, ActorContext<M> context) -> relay(message, context, limit));
  }

  @SuppressWarnings("unchecked") // it was asked with a request of these messages
  private <Q extends M> void relay(M message, ActorContext<M> context, Duration limit) {
    var request = (Request<Q, Object>) message;
    var entity = entities.enter(key, true);
    if (entity == null) {
      context.reply(request, ended().ask(request)); // throws
      return;
    }
    try {
      if (context.cancelled()) return;
      context.reply(request, limit == null ? entity.actor().ask(request) : entity.actor().ask(request, limit));
    } finally {
      entities.leave(entity);
    }
  }

  // ---- timers

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return EntityTimer.start(this, null, message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object timer, M message, Duration delay) {
    return EntityTimer.start(this, Objects.requireNonNull(timer, "key"), message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return EntityTimer.start(this, null, message, period, true);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object timer, M message, Duration period) {
    return EntityTimer.start(this, Objects.requireNonNull(timer, "key"), message, period, true);
  }

  // ---- ending the one that is alive

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
    var actor = entities.find(key);
    return (actor == null ? ended() : actor).waitForExit(limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    var actor = entities.find(key);
    return (actor == null ? ended() : actor).onExit();
  }

  @Override
  public Actor<M> closeOnExit(AutoCloseable... resources) {
    var actor = entities.find(key);
    (actor == null ? ended() : actor).closeOnExit(resources);
    return this;
  }

  // ---- what it is

  @Override
  public String name() {
    return "entity " + key;
  }

  @Override
  public String toString() {
    return name();
  }

  /**
   * An actor that has ended: it answers as those do, and what it refuses is a dead letter. With
   * this name, if nobody has it.
   */
  Actor<Object> ended() {
    Actor<Object> ended;
    try {
      ended = ActorSystem.named(name()).strategy(Strategy.CALLER).mailbox(Mailbox.unbounded()).newActor(nothing -> {});
    } catch (IllegalArgumentException taken) {
      ended = ActorSystem.anonymous().strategy(Strategy.CALLER).mailbox(Mailbox.unbounded()).newActor(nothing -> {});
    }
    ended.askExit();
    return ended;
  }
}
