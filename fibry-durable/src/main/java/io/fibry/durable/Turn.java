package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/** What a handler does with one message. Of the handler's thread. */
final class Turn<S, E, M> implements EventContext<S, E, M> {
  /** An answer that has not left. */
  private record Answer(CompletableFuture<Object> promised, CompletionStage<?> value) {}

  private final Live<S, E, M> live;
  private final M message;
  private final ActorContext<M> core; // throws on other threads, and after the handler has returned
  private final List<byte[]> events = new ArrayList<>(1);
  private final List<Answer> answers = new ArrayList<>(1);
  private final List<Handler.Task> afterwards = new ArrayList<>(0);
  private S state; // after the events so far
  private boolean ended;

  Turn(Live<S, E, M> live, S state, M message, ActorContext<M> core) {
    this.live = live;
    this.state = state;
    this.message = message;
    this.core = core;
  }

  // ---- for the handler

  @Override
  public S persist(E event) {
    core.self();
    byte[] bytes = live.encode(Objects.requireNonNull(event, "event"));
    state = live.after(state, event);
    events.add(bytes);
    return state;
  }

  @Override
  public String key() {
    return live.id().key();
  }

  @Override
  public void afterwards(Handler.Task task) {
    core.self();
    afterwards.add(Objects.requireNonNull(task, "task"));
  }

  @Override
  public void end() {
    core.self();
    ended = true;
  }

  @Override
  public <R> void reply(Request<?, R> request, R value) {
    Objects.requireNonNull(value, "the answer is null; let it be an Optional, or Done");
    replyWhen(request, CompletableFuture.completedFuture(value));
  }

  @Override
  public void replyFailure(Request<?, ?> request, Throwable failure) {
    replyWhen(request, CompletableFuture.failedFuture(Objects.requireNonNull(failure, "failure")));
  }

  @Override
  @SuppressWarnings("unchecked") // it gets what `value` has
  public <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value) {
    Objects.requireNonNull(value, "value");
    var promised = new CompletableFuture<>();
    core.replyWhen(request, (CompletionStage<R>) promised);
    answers.add(new Answer(promised, value));
  }

  @Override
  public Actor<M> self() {
    return core.self();
  }

  @Override
  public boolean cancelled() {
    return core.cancelled();
  }

  @Override
  public <T extends M> Optional<T> receive(Class<T> type, Duration limit) {
    throw refused("receive");
  }

  @Override
  public <T extends M> Optional<T> receive(Class<T> type, Predicate<? super T> which, Duration limit) {
    throw refused("receive");
  }

  @Override
  public void stash() {
    throw refused("stash");
  }

  @Override
  public void unstash() {
    throw refused("unstash");
  }

  private IllegalStateException refused(String verb) {
    return new IllegalStateException(live.id() + " cannot " + verb + ": what it does with one message is a turn");
  }

  @Override
  public void watch(Exitable other, Function<ExitReason, ? extends M> told) {
    core.watch(other, told);
  }

  @Override
  public void unwatch(Exitable other) {
    core.unwatch(other);
  }

  // ---- for the actor

  S state() {
    return state;
  }

  List<byte[]> events() {
    return events;
  }

  boolean ended() {
    return ended;
  }

  /** The handler threw: that is all that the asker gets. */
  void fail(CompletableFuture<Void> before, Throwable failure) {
    boolean stored = before.isDone() && !before.isCompletedExceptionally();
    if (answers.isEmpty() && !stored && message instanceof Request<?, ?> request) promise(request);
    answers.replaceAll(answer -> new Answer(answer.promised, CompletableFuture.failedFuture(failure)));
    afterwards.clear();
  }

  private void promise(Request<?, ?> request) {
    try {
      replyWhen(request, new CompletableFuture<>());
    } catch (IllegalArgumentException nobodyAsked) {
      // it was sent without a wait
    }
  }

  /** What it answers leaves when all is stored; done when it has left. Never fails. */
  CompletableFuture<Void> leave(CompletableFuture<Void> stored) {
    for (var task : afterwards)
      stored.thenRun(() -> Thread.ofVirtual().name("after " + live.id()).start(() -> run(task)));
    if (answers.isEmpty()) return CompletableFuture.completedFuture(null);
    return stored.handle((none, refused) -> {
      for (var answer : answers) leave(answer, refused);
      return null;
    });
  }

  private void leave(Answer answer, Throwable refused) {
    if (refused != null) answer.promised.completeExceptionally(live.notStored(message, refused));
    else answer.value.whenComplete((result, failure) -> {
      if (failure == null) answer.promised.complete(result);
      else answer.promised.completeExceptionally(failure);
    });
  }

  private void run(Handler.Task task) {
    try {
      task.run();
    } catch (Throwable failure) {
      LoggerFactory.getLogger(Durable.class).error("what {} does after a turn failed", live.id(), failure);
    }
  }
}
