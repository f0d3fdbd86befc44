package io.fibry.durable.turn;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.durable.Durable;
import io.fibry.durable.Idempotent;
import io.fibry.durable.RequestStoredException;
import io.fibry.durable.delivery.DurableEntities;
import io.fibry.durable.kind.CheckedCodec;
import io.fibry.durable.kind.DurableDefinition;
import io.fibry.durable.storage.DurableLog;
import io.fibry.durable.storage.Note;
import io.fibry.durable.storage.StoredMessage;
import io.fibry.durable.storage.StoredNameChecks;
import io.fibry.spi.AnswerObserver;
import io.fibry.text.Lines;
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

/** The context of a handler: it collects the effects of a turn. Used by the handler's thread. */
final class TurnContext<S, E, M> extends MessageContext<M> implements DurableDefinition.StateContext<S, E, M> {
  /** An answer of this turn, which is sent when the turn is stored. */
  private record TurnAnswer(CompletableFuture<Object> promise, CompletableFuture<?> value) {}

  private final DurableRuntime<S, E, M> runtime;
  private final M message;
  private final StoredMessage<Object> storedMessage; // the handled message; null if it is not stored
  // the stored message with which a courier or an asker woke the actor; null for a message that is
  // not stored
  private final StoredMessage<Object> wakingMessage;
  // Many handlers may sleep at the same time, so these parts are made when they are needed. The
  // next two are null until then, and a list is `List.of()` until it gets its first element.
  private TurnOutbox outbox;
  private TurnSteps steps;
  private List<byte[]> events = List.of();
  private List<TurnAnswer> answers = List.of(); // each promise gets its value when the turn is stored
  private List<Handler.Task> commitTasks = List.of();
  private Optional<byte[]> rememberedAnswer = Optional.empty(); // encoded answer to an idempotent request
  private S state; // the state after the events that this turn has added
  private boolean isAnswered; // the stored request of this turn has an answer
  private boolean isErased;
  private boolean isOver; // the handler has returned

  TurnContext(DurableRuntime<S, E, M> runtime, S state, M message, ActorContext<Object> coreContext) {
    super(runtime.id(), coreContext);
    this.runtime = runtime;
    this.state = state;
    this.message = message;
    this.storedMessage = null;
    this.wakingMessage = null;
  }

  @SuppressWarnings("unchecked") // the address accepts only messages of type M
  TurnContext(DurableRuntime<S, E, M> runtime, S state, StoredMessage<Object> storedMessage,
      StoredMessage<Object> wakingMessage, ActorContext<Object> coreContext) {
    super(runtime.id(), coreContext);
    this.runtime = runtime;
    this.state = state;
    this.message = (M) storedMessage.message();
    this.storedMessage = storedMessage;
    this.wakingMessage = wakingMessage;
  }

  // ---- for the handler

  @Override
  void checkValid() {
    coreContext.self();
    if (isOver) throw new IllegalStateException("the context of " + runtime.id()
        + " is valid on its handler's thread, until the handler returns; to send later, use self()");
  }

  /**
   * Throws if the effect of a step is running. A stored step does not run again, so its additions
   * to the turn would be missing.
   */
  private void checkOutsideStep() {
    checkValid();
    if (steps != null) steps.checkNoStepRuns();
  }

  @Override
  public S persist(E event) {
    checkOutsideStep();
    byte[] bytes = runtime.encode(Objects.requireNonNull(event, "event"));
    state = runtime.applyEvent(state, event);
    if (events.isEmpty()) events = new ArrayList<>(1);
    events.add(bytes);
    return state;
  }

  @Override
  public String key() {
    return runtime.id().key();
  }

  @Override
  public <N> void sendMessage(Durable<N> to, String key, N newMessage) {
    checkOutsideStep();
    outbox().send(to, key, newMessage, coreContext.self());
  }

  @Override
  public void setReminder(String name, M reminder, Duration delay) {
    checkOutsideStep();
    outbox().setReminder(name, runtime.toMail(coreContext, reminder, Optional.empty()),
        Objects.requireNonNull(delay, "delay"));
  }

  @Override
  public void setRepeatingReminder(String name, M reminder, Duration period) {
    checkOutsideStep();
    outbox().setReminder(name,
        runtime.toMail(coreContext, reminder, Optional.of(Objects.requireNonNull(period, "period"))), period);
  }

  @Override
  public void cancelReminder(String name) {
    checkOutsideStep();
    outbox().cancelReminder(name);
  }

  @Override
  public <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception {
    checkValid();
    R result = steps().begin(name, type, effect);
    if (steps.isStoring()) runtime.turns().parkUntilLastStored();
    steps.awaitStored();
    return result;
  }

  @Override
  public <R> R step(String name, Codec<R> codec, Callable<? extends R> effect) throws Exception {
    checkValid();
    R result = steps().begin(name, CheckedCodec.of(codec), effect);
    if (steps.isStoring()) runtime.turns().parkUntilLastStored();
    steps.awaitStored();
    return result;
  }

  @Override
  public String idempotencyKey(String name) {
    checkValid();
    return steps().key(name);
  }

  @Override
  public void sleep(String name, Duration time) throws Exception {
    checkValid();
    var wakeTime = steps().beginSleep(name, time, runtime.delivery());
    if (steps.isStoring()) runtime.turns().parkUntilLastStored();
    steps.awaitStored();
    runtime.turns().awaitLast();
    runtime.delivery().dueTimes.sleepUntil(wakeTime);
  }

  private TurnSteps steps() {
    if (steps != null) return steps;
    String idInStore = storedMessage == null ? null : storedMessage.uniqueId();
    return steps =
        new TurnSteps(runtime, message instanceof Idempotent ? messageId().orElseThrow() : idInStore, idInStore);
  }

  @Override
  public void afterCommit(Handler.Task task) {
    checkOutsideStep();
    if (commitTasks.isEmpty()) commitTasks = new ArrayList<>(1);
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
    var encodedAnswer =
        request instanceof Idempotent ? Optional.of(runtime.answerCodec(request).encode(value)) : rememberedAnswer;
    answer(request, CompletableFuture.completedFuture(value));
    rememberedAnswer = encodedAnswer;
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
    var copy = new CompletableFuture<Object>(); // the store's thread must not call a user's stage
    Objects.requireNonNull(value, "value").whenComplete((answer, failure) -> settle(copy, answer, failure));
    answer(request, copy);
  }

  private void checkNotIdempotent(Request<?, ?> request) {
    if (request instanceof Idempotent) throw new IllegalStateException(runtime.id() + " must remember its answer to "
        + request.getClass().getSimpleName()
        + ", which is Idempotent: call context.reply with a value, or throw; after an exception the request may be "
        + "sent again");
  }

  private void answer(Request<?, ?> request, CompletableFuture<?> value) {
    if (storedMessage == null || request != message || isAnswered) {
      promise(request, value); // throws for a second answer, or a request that is not this message
      return;
    }
    isAnswered = true;
    if (storedMessage.hasAsker()) promise(storedMessage, value);
  }

  @SuppressWarnings("unchecked") // the promise gets only the result of `value`
  private void promise(Request<?, ?> request, CompletableFuture<?> value) {
    var promise = new CompletableFuture<>();
    coreContext.replyWhen((Request<?, Object>) request, promise);
    AnswerObserver.of(coreContext).ifPresent(observer -> value.whenComplete((answer, failure) -> {
      if (failure == null) observer.onAnswer(answer); // later turns may change the answered object
    }));
    if (answers.isEmpty()) answers = new ArrayList<>(1);
    answers.add(new TurnAnswer(promise, value));
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
  public void watch(Exitable other, Function<ExitReason, ? extends M> toMessage) {
    checkValid();
    coreContext.watch(DurableEntities.unwrap(other), toMessage); // so that the core recognizes the actor itself
  }

  @Override
  public void unwatch(Exitable other) {
    checkValid();
    coreContext.unwatch(DurableEntities.unwrap(other));
  }

  // ---- for the actor

  /** Called when the handler has returned or thrown: from now on it cannot use this context. */
  void endHandler() {
    isOver = true;
  }

  /** Returns whether the asker does not wait any more. */
  boolean isCancelledByAsker() {
    return coreContext.isCancelled();
  }

  @Override
  public S state() {
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
    return Optional.ofNullable(storedMessage);
  }

  TurnOutbox outbox() {
    if (outbox == null) outbox = new TurnOutbox(runtime.id(), runtime.delivery());
    return outbox;
  }

  /** Returns the id by which a repetition of the message is recognized; empty if there is none. */
  Optional<String> messageId() {
    return message instanceof Idempotent idempotent ? Optional.of(StoredNameChecks.messageId(runtime.id(), idempotent))
        : storedMessage().map(StoredMessage::uniqueId);
  }

  /** Repeats the answer if the message was handled before. Returns whether it was. */
  boolean tryRepeatAnswer() {
    var knownAnswer = knownAnswer();
    knownAnswer.ifPresent(this::repeatAnswer);
    return knownAnswer.isPresent();
  }

  Optional<Note.Answered> knownAnswer() {
    return message instanceof Idempotent ? runtime.knownAnswer(messageId().orElseThrow()) : Optional.empty();
  }

  /** Returns whether the actor has ended while this handler continued. */
  boolean hasActorEnded() {
    return DurableRuntime.hasActorEnded(coreContext);
  }

  /** Repeats the remembered answer to a request. Fails the request if it is no answer to it. */
  private void repeatAnswer(Note.Answered note) {
    if (message instanceof Request<?, ?> request && note.answer().isPresent())
      answer(request, decodeAnswer(request, note.answer().get()));
  }

  /** Returns a failed future if the bytes are no answer to this class of request. */
  private CompletableFuture<Object> decodeAnswer(Request<?, ?> request, byte[] encodedAnswer) {
    var codec = runtime.answerCodec(request);
    try {
      return CompletableFuture.completedFuture(codec.decode(encodedAnswer));
    } catch (CodecException mismatch) { // only the asker's failure: the actor and its state are as before
      String type = request.getClass().getSimpleName();
      return CompletableFuture.failedFuture(new IllegalArgumentException(
          "the idempotency key " + Lines.text(((Idempotent) request).idempotencyKey()) + " of " + type + " to "
              + runtime.id() + " is known, and the remembered answer cannot be an answer to " + type + ": "
              + Lines.message(mismatch) + ". Another type of request had this key, or the type of the answer was "
              + "changed; send a new request with a new key",
          mismatch));
    }
  }

  /** Returns notes that end the earlier notes about this message and about replaced reminders. */
  List<Note> obsoleteNotes(ActorNotes actorNotes) {
    if (!actorNotes.hasMessageNotes()) return List.of();
    var obsoleteIds = new LinkedHashSet<String>(0);
    messageId().filter(actorNotes::hasNotesOf).ifPresent(obsoleteIds::add);
    storedMessage().map(StoredMessage::uniqueId).filter(actorNotes::hasNotesOf).ifPresent(obsoleteIds::add);
    for (var id : outbox().ownIds())
      actorNotes.messageIdsWithPrefix(StoredMessage.idPrefix(id)).stream()
          .filter(uniqueId -> !runtime.isParked(uniqueId))
          .forEach(obsoleteIds::add);
    return obsoleteIds.stream().<Note>map(Note.Over::new).toList();
  }

  /** Returns the note that an idempotent message was handled; empty for other messages. */
  Optional<Note> answerNote(Instant now) {
    return message instanceof Idempotent
        ? Optional.of(new Note.Answered(messageId().orElseThrow(), now, rememberedAnswer))
        : Optional.empty();
  }

  /**
   * If a courier woke the actor with the message of this turn, replies DONE to the courier when the
   * turn is stored. Does nothing if an asker waits for the message.
   */
  void acknowledge() {
    if (isWokenByItsMessage() && !wakingMessage.hasAsker())
      promise(wakingMessage, CompletableFuture.completedFuture(Done.DONE));
  }

  /** Returns whether the stored message that woke the actor is the message of this turn. */
  boolean isWokenByItsMessage() {
    return storedMessage != null && storedMessage.id().equals(wakingMessage.id());
  }

  /** Replaces all answers by the failure, which is sent when the earlier turns are stored. */
  void fail(CompletableFuture<Void> earlierTurns, Throwable failure) {
    boolean areEarlierStored = earlierTurns.isDone() && !earlierTurns.isCompletedExceptionally();
    if (answers.isEmpty() && (!areEarlierStored || failure instanceof RequestStoredException)) promiseAnswer();
    if (!answers.isEmpty())
      answers.replaceAll(answer -> new TurnAnswer(answer.promise, CompletableFuture.failedFuture(failure)));
    commitTasks = List.of();
  }

  private void promiseAnswer() {
    try {
      if (wakingMessage != null) promise(wakingMessage, new CompletableFuture<>());
      else if (message instanceof Request<?, ?> request) promise(request, new CompletableFuture<>());
    } catch (IllegalArgumentException noAsker) {} // the sender does not wait for an answer
  }

  /**
   * Runs tasks and sends answers when all turns so far are stored. Returns a future that is done
   * when the answers are sent. An answer of {@code replyWhen} may be sent later.
   */
  CompletableFuture<Void> sendAnswers(CompletableFuture<Void> allStored, boolean hasFailed) {
    for (var task : commitTasks)
      allStored.thenRun(() -> Thread.ofVirtual().name("after " + runtime.id()).start(() -> run(task)));
    if (answers.isEmpty()) return CompletableFuture.completedFuture(null);
    var allAnswers = answers;
    return allStored.handle((result, refusal) -> {
      for (var answer : allAnswers) sendAnswer(answer, refusal, hasFailed);
      return null;
    });
  }

  private void sendAnswer(TurnAnswer answer, Throwable refusal, boolean hasFailed) {
    if (refusal != null) answer.promise.completeExceptionally(runtime.notStored(this, refusal, hasFailed));
    else answer.value.whenComplete((result, failure) -> settle(answer.promise, result, failure));
  }

  private void run(Handler.Task task) {
    try {
      task.run();
    } catch (Throwable failure) {
      DurableLog.LOG.error("a task that {} gave to afterCommit failed", runtime.id(), failure);
    }
  }
}
