package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.codec.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/** What a handler does with one message. Used by the handler's thread. */
final class TurnContext<S, E, M> implements EventContext<S, E, M> {
  private record TurnAnswer(CompletableFuture<Object> promised, CompletableFuture<?> value) {} // that has not left

  private final DurableRuntime<S, E, M> runtime;
  private final M message;
  private final Optional<StoredMessage<Object>> storedMessage; // as which it was given
  private final Optional<StoredMessage<Object>> call; // in which the actor handles it
  private final ActorContext<Object> coreContext; // throws on other threads, and after the handler has returned
  private final TurnOutbox outgoing;
  private TurnSteps steps; // null until the first step
  private final List<byte[]> events = new ArrayList<>(1);
  private final List<TurnAnswer> answers = new ArrayList<>(1);
  private final List<Handler.Task> commitTasks = new ArrayList<>(0);
  private Optional<byte[]> rememberedAnswer = Optional.empty(); // the answer
  private S state; // after the events so far
  private boolean isAnswered; // a kept request
  private boolean isErased;
  private boolean isOver; // the handler has returned

  TurnContext(DurableRuntime<S, E, M> runtime, S state, M message, ActorContext<Object> coreContext) {
    this(runtime, state, message, Optional.empty(), Optional.empty(), coreContext);
  }

  @SuppressWarnings("unchecked") // the address takes no others
  TurnContext(DurableRuntime<S, E, M> runtime, S state, StoredMessage<Object> storedMessage, StoredMessage<Object> call,
      ActorContext<Object> coreContext) {
    this(runtime, state, (M) storedMessage.message(), Optional.of(storedMessage), Optional.of(call), coreContext);
  }

  private TurnContext(DurableRuntime<S, E, M> runtime, S state, M message,
      Optional<StoredMessage<Object>> storedMessage,
      Optional<StoredMessage<Object>> call,
      ActorContext<Object> coreContext) {
    this.runtime = runtime;
    this.state = state;
    this.message = message;
    this.storedMessage = storedMessage;
    this.call = call;
    this.coreContext = coreContext;
    this.outgoing = new TurnOutbox(runtime.id(), runtime.delivery());
  }

  // ---- for the handler

  /** The core knows threads, and not which of the messages on one this is of. */
  private void checkValid() {
    coreContext.self();
    if (isOver) throw new IllegalStateException("the context of " + runtime.id()
        + " is valid on its handler's thread, until the handler returns; for later, keep self()");
  }

  /** What a step does is not done again when its message comes again. */
  private void checkOutsideStep() {
    checkValid();
    if (steps != null) steps.checkOutside();
  }

  @Override
  public S persist(E event) {
    checkOutsideStep();
    byte[] bytes = runtime.encode(Objects.requireNonNull(event, "event"));
    state = runtime.applyEvent(state, event);
    events.add(bytes);
    return state;
  }

  @Override
  public String key() {
    return runtime.id().key();
  }

  @Override
  public <N> void sendMessage(Durable<N> to, String key, N other) {
    checkOutsideStep();
    outgoing.send(to, key, other, coreContext.self());
  }

  @Override
  public void setReminder(String name, M later, Duration delay) {
    checkOutsideStep();
    outgoing.setReminder(name, runtime.toMail(coreContext, later, Optional.empty()),
        Objects.requireNonNull(delay, "delay"));
  }

  @Override
  public void setRepeatingReminder(String name, M later, Duration period) {
    checkOutsideStep();
    outgoing.setReminder(name,
        runtime.toMail(coreContext, later, Optional.of(Objects.requireNonNull(period, "period"))), period);
  }

  @Override
  public void cancelReminder(String name) {
    checkOutsideStep();
    outgoing.cancelReminder(name);
  }

  @Override
  public <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception {
    checkValid();
    return steps().step(name, type, effect);
  }

  @Override
  public <R> R step(String name, Codec<R> codec, Callable<? extends R> effect) throws Exception {
    checkValid();
    return steps().step(name, CheckedCodec.of(codec), effect);
  }

  @Override
  public String idempotencyKey(String name) {
    checkValid();
    return steps().key(name);
  }

  @Override
  public void sleep(String name, Duration time) throws Exception {
    checkValid();
    steps().sleep(name, time, runtime.delivery());
  }

  private TurnSteps steps() {
    if (steps == null) steps = new TurnSteps(runtime, messageId(), storedMessage.map(StoredMessage::uniqueId));
    return steps;
  }

  @Override
  public void afterCommit(Handler.Task task) {
    checkOutsideStep();
    commitTasks.add(Objects.requireNonNull(task, "task"));
  }

  @Override
  public void erase() {
    checkOutsideStep();
    isErased = true;
  }

  @Override
  public <R> void reply(Request<?, R> request, R value) {
    checkOutsideStep();
    Objects.requireNonNull(value, "the answer is null; let it be an Optional, or Done");
    var bytes =
        request instanceof Idempotent ? Optional.of(runtime.answerCodec(request).encode(value)) : rememberedAnswer;
    answer(request, CompletableFuture.completedFuture(value));
    rememberedAnswer = bytes;
  }

  @Override
  public void replyFailure(Request<?, ?> request, Throwable failure) {
    checkOutsideStep();
    checkNotIdempotent(request);
    answer(request, CompletableFuture.failedFuture(Objects.requireNonNull(failure, "failure")));
  }

  @Override
  public <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value) {
    checkOutsideStep();
    checkNotIdempotent(request);
    var given = new CompletableFuture<Object>(); // the store's thread must not chain to a stage of others
    Objects.requireNonNull(value, "value").whenComplete((answer, failure) -> settle(given, answer, failure));
    answer(request, given);
  }

  private void checkNotIdempotent(Request<?, ?> request) {
    if (request instanceof Idempotent) throw new IllegalStateException(runtime.id() + " must remember its answer to "
        + request.getClass().getSimpleName()
        + ", which is Once: only a value given to context.reply can be; or throw, and the request may come again");
  }

  private void answer(Request<?, ?> request, CompletableFuture<?> value) {
    if (storedMessage.isEmpty() || request != message || isAnswered) {
      promise(request, value); // of a kept message, the core says that this one was not given, or is answered
      return;
    }
    isAnswered = true;
    if (storedMessage.get().hasAsker()) promise(storedMessage.get(), value);
  }

  @SuppressWarnings("unchecked") // it gets what `value` has
  private void promise(Request<?, ?> request, CompletableFuture<?> value) {
    var promised = new CompletableFuture<>();
    coreContext.replyWhen((Request<?, Object>) request, promised);
    answers.add(new TurnAnswer(promised, value));
  }

  private static void settle(CompletableFuture<Object> future, Object answer, Throwable failure) {
    if (failure == null) future.complete(answer);
    else future.completeExceptionally(failure);
  }

  @Override
  public Actor<M> self() {
    checkValid();
    return runtime.address(coreContext.self());
  }

  @Override
  public boolean isCancelled() {
    checkValid();
    return coreContext.isCancelled();
  }

  @Override
  public Optional<Duration> remainingTime() {
    checkValid();
    return coreContext.remainingTime();
  }

  @Override
  public <T extends M> Optional<T> receive(Class<T> type, Duration limit) {
    throw unsupported("receive");
  }

  @Override
  public <T extends M> Optional<T> receive(Class<T> type, Predicate<? super T> which, Duration limit) {
    throw unsupported("receive");
  }

  @Override
  public void stash() {
    throw unsupported("stash");
  }

  @Override
  public void unstash() {
    throw unsupported("unstash");
  }

  private IllegalStateException unsupported(String verb) {
    return new IllegalStateException(runtime.id() + " cannot " + verb + ": what it does with one message is a turn");
  }

  @Override
  public void watch(Exitable other, Function<ExitReason, ? extends M> told) {
    checkValid();
    coreContext.watch(DurableActor.unwrap(other), told); // so that its own end is known as such
  }

  @Override
  public void unwatch(Exitable other) {
    checkValid();
    coreContext.unwatch(DurableActor.unwrap(other));
  }

  // ---- for the actor

  /** {@return the next state} */
  S run(DurableDefinition.TurnHandler<S, E, M> handler) throws Exception {
    try {
      return handler.runTurn(state, message, this);
    } finally {
      isOver = true;
    }
  }

  /** Its asker does not wait any more. */
  boolean isCancelledByAsker() {
    return coreContext.isCancelled();
  }

  S state() {
    return state;
  }

  List<byte[]> events() {
    return events;
  }

  boolean isErased() {
    return isErased;
  }

  M message() {
    return message;
  }

  Optional<StoredMessage<Object>> storedMessage() {
    return storedMessage;
  }

  TurnOutbox outgoing() {
    return outgoing;
  }

  /** Returns the id under which the message comes again, or empty if it will not. */
  Optional<String> messageId() {
    return message instanceof Idempotent once ? Optional.of(StoredNames.messageId(runtime.id(), once))
        : storedMessage.map(StoredMessage::uniqueId);
  }

  Optional<Note.Answered> knownAnswer() {
    return message instanceof Idempotent ? runtime.answered(messageId().orElseThrow()) : Optional.empty();
  }

  /** The actor has ended, and this handler went on. */
  boolean hasActorEnded() {
    return hasActorEnded(coreContext);
  }

  static boolean hasActorEnded(ActorContext<?> coreContext) {
    try {
      coreContext.self();
      return false;
    } catch (IllegalStateException over) {
      return true;
    }
  }

  /** It gets the same answer. */
  void repeatAnswer(Note.Answered before) {
    if (message instanceof Request<?, ?> request && before.answer().isPresent())
      answer(request, CompletableFuture.completedFuture(runtime.answerCodec(request).decode(before.answer().get())));
  }

  /** Returns notes that are useless now: of this message, and of reminders that were replaced. */
  List<Note> obsoleteNotes(ActorNotes actorNotes) {
    if (!actorNotes.hasMessageNotes()) return List.of();
    var over = new LinkedHashSet<String>(0);
    messageId().filter(actorNotes::hasNotesOf).ifPresent(over::add);
    storedMessage.map(StoredMessage::uniqueId).filter(actorNotes::hasNotesOf).ifPresent(over::add);
    for (var id : outgoing.ownIds())
      actorNotes.messagesWithPrefix(StoredMessage.idPrefix(id)).stream().filter(known -> !runtime.isParked(known))
          .forEach(over::add);
    return over.stream().<Note>map(Note.Over::new).toList();
  }

  /** Returns the note to remember about a message that it has handled. */
  Optional<Note> answerNote(Instant now) {
    return message instanceof Idempotent
        ? Optional.of(new Note.Answered(messageId().orElseThrow(), now, rememberedAnswer))
        : Optional.empty();
  }

  /** A kept message has no sender that waits for its answer: it is told when the turn is stored. */
  void acknowledge() {
    // No other's, which went down.
    boolean ofTheCall = storedMessage.isPresent() && storedMessage.get().id().equals(call.get().id());
    if (ofTheCall && !call.get().hasAsker()) promise(call.get(), CompletableFuture.completedFuture(Done.DONE));
  }

  /** The handler threw: that is all that the asker gets. */
  void fail(CompletableFuture<Void> before, Throwable failure) {
    boolean stored = before.isDone() && !before.isCompletedExceptionally();
    if (answers.isEmpty() && (!stored || failure instanceof RequestStoredException)) promiseAnswer();
    answers.replaceAll(answer -> new TurnAnswer(answer.promised, CompletableFuture.failedFuture(failure)));
    commitTasks.clear();
  }

  private void promiseAnswer() {
    try {
      if (call.isPresent()) promise(call.get(), new CompletableFuture<>());
      else if (message instanceof Request<?, ?> request) promise(request, new CompletableFuture<>());
    } catch (IllegalArgumentException nobodyAsked) {
      // it was sent without a wait
    }
  }

  /** Sends the answers when all turns are stored; done when they have left, and never fails. */
  CompletableFuture<Void> sendAnswers(CompletableFuture<Void> stored, boolean failed) {
    for (var task : commitTasks)
      stored.thenRun(() -> Thread.ofVirtual().name("after " + runtime.id()).start(() -> run(task)));
    if (answers.isEmpty()) return CompletableFuture.completedFuture(null);
    return stored.handle((none, refused) -> {
      for (var answer : answers) sendAnswers(answer, refused, failed);
      return null;
    });
  }

  private void sendAnswers(TurnAnswer answer, Throwable refused, boolean failed) {
    if (refused != null) answer.promised.completeExceptionally(runtime.notStored(this, refused, failed));
    else answer.value.whenComplete((result, failure) -> settle(answer.promised, result, failure));
  }

  private void run(Handler.Task task) {
    try {
      task.run();
    } catch (Throwable failure) {
      LoggerFactory.getLogger(Durable.class).error("what {} does after a turn failed", runtime.id(), failure);
    }
  }
}
