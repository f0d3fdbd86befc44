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

  private final DurableRuntime<S, E, M> live;
  private final M message;
  private final Optional<StoredMessage<Object>> kept; // as which it was given
  private final Optional<StoredMessage<Object>> call; // in which the actor handles it
  private final ActorContext<Object> core; // throws on other threads, and after the handler has returned
  private final TurnOutbox outgoing;
  private TurnSteps steps; // null until the first step
  private final List<byte[]> events = new ArrayList<>(1);
  private final List<TurnAnswer> answers = new ArrayList<>(1);
  private final List<Handler.Task> afterwards = new ArrayList<>(0);
  private Optional<byte[]> remembered = Optional.empty(); // the answer
  private S state; // after the events so far
  private boolean answered; // a kept request
  private boolean ended;
  private boolean over; // the handler has returned

  TurnContext(DurableRuntime<S, E, M> live, S state, M message, ActorContext<Object> core) {
    this(live, state, message, Optional.empty(), Optional.empty(), core);
  }

  @SuppressWarnings("unchecked") // the address takes no others
  TurnContext(DurableRuntime<S, E, M> live, S state, StoredMessage<Object> kept, StoredMessage<Object> call,
      ActorContext<Object> core) {
    this(live, state, (M) kept.message(), Optional.of(kept), Optional.of(call), core);
  }

  private TurnContext(DurableRuntime<S, E, M> live, S state, M message, Optional<StoredMessage<Object>> kept,
      Optional<StoredMessage<Object>> call,
      ActorContext<Object> core) {
    this.live = live;
    this.state = state;
    this.message = message;
    this.kept = kept;
    this.call = call;
    this.core = core;
    this.outgoing = new TurnOutbox(live.id(), live.delivery());
  }

  // ---- for the handler

  /** The core knows threads, and not which of the messages on one this is of. */
  private void check() {
    core.self();
    if (over) throw new IllegalStateException("the context of " + live.id()
        + " is valid on its handler's thread, until the handler returns; for later, keep self()");
  }

  /** What a step does is not done again when its message comes again. */
  private void checkOfTurn() {
    check();
    if (steps != null) steps.checkOutside();
  }

  @Override
  public S persist(E event) {
    checkOfTurn();
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
  public <N> void sendMessage(Durable<N> to, String key, N other) {
    checkOfTurn();
    outgoing.send(to, key, other, core.self());
  }

  @Override
  public void setReminder(String name, M later, Duration delay) {
    checkOfTurn();
    outgoing.remind(name, live.mail(core, later, Optional.empty()), Objects.requireNonNull(delay, "delay"));
  }

  @Override
  public void setRepeatingReminder(String name, M later, Duration period) {
    checkOfTurn();
    outgoing.remind(name, live.mail(core, later, Optional.of(Objects.requireNonNull(period, "period"))), period);
  }

  @Override
  public void cancelReminder(String name) {
    checkOfTurn();
    outgoing.forget(name);
  }

  @Override
  public <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception {
    check();
    return steps().step(name, type, effect);
  }

  @Override
  public <R> R step(String name, Codec<R> codec, Callable<? extends R> effect) throws Exception {
    check();
    return steps().step(name, CheckedCodec.of(codec), effect);
  }

  @Override
  public String idempotencyKey(String name) {
    check();
    return steps().key(name);
  }

  @Override
  public void sleep(String name, Duration time) throws Exception {
    check();
    steps().sleep(name, time, live.delivery());
  }

  private TurnSteps steps() {
    if (steps == null) steps = new TurnSteps(live, messageId(), kept.map(StoredMessage::unique));
    return steps;
  }

  @Override
  public void afterCommit(Handler.Task task) {
    checkOfTurn();
    afterwards.add(Objects.requireNonNull(task, "task"));
  }

  @Override
  public void erase() {
    checkOfTurn();
    ended = true;
  }

  @Override
  public <R> void reply(Request<?, R> request, R value) {
    checkOfTurn();
    Objects.requireNonNull(value, "the answer is null; let it be an Optional, or Done");
    var bytes = request instanceof Idempotent ? Optional.of(live.answersTo(request).encode(value)) : remembered;
    answer(request, CompletableFuture.completedFuture(value));
    remembered = bytes;
  }

  @Override
  public void replyFailure(Request<?, ?> request, Throwable failure) {
    checkOfTurn();
    checkForgotten(request);
    answer(request, CompletableFuture.failedFuture(Objects.requireNonNull(failure, "failure")));
  }

  @Override
  public <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value) {
    checkOfTurn();
    checkForgotten(request);
    var given = new CompletableFuture<Object>(); // the store's thread must not chain to a stage of others
    Objects.requireNonNull(value, "value").whenComplete((answer, failure) -> settle(given, answer, failure));
    answer(request, given);
  }

  private void checkForgotten(Request<?, ?> request) {
    if (request instanceof Idempotent) throw new IllegalStateException(live.id() + " must remember its answer to "
        + request.getClass().getSimpleName()
        + ", which is Once: only a value given to context.reply can be; or throw, and the request may come again");
  }

  private void answer(Request<?, ?> request, CompletableFuture<?> value) {
    if (kept.isEmpty() || request != message || answered) {
      promise(request, value); // of a kept message, the core says that this one was not given, or is answered
      return;
    }
    answered = true;
    if (kept.get().asked()) promise(kept.get(), value);
  }

  @SuppressWarnings("unchecked") // it gets what `value` has
  private void promise(Request<?, ?> request, CompletableFuture<?> value) {
    var promised = new CompletableFuture<>();
    core.replyWhen((Request<?, Object>) request, promised);
    answers.add(new TurnAnswer(promised, value));
  }

  private static void settle(CompletableFuture<Object> future, Object answer, Throwable failure) {
    if (failure == null) future.complete(answer);
    else future.completeExceptionally(failure);
  }

  @Override
  public Actor<M> self() {
    check();
    return live.address(core.self());
  }

  @Override
  public boolean isCancelled() {
    check();
    return core.isCancelled();
  }

  @Override
  public Optional<Duration> remainingTime() {
    check();
    return core.remainingTime();
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
    check();
    core.watch(DurableActor.behind(other), told); // so that its own end is known as such
  }

  @Override
  public void unwatch(Exitable other) {
    check();
    core.unwatch(DurableActor.behind(other));
  }

  // ---- for the actor

  /** {@return the next state} */
  S run(DurableDefinition.TurnHandler<S, E, M> handler) throws Exception {
    try {
      return handler.handle(state, message, this);
    } finally {
      over = true;
    }
  }

  /** Its asker does not wait any more. */
  boolean isGivenUp() {
    return core.isCancelled();
  }

  S state() {
    return state;
  }

  List<byte[]> events() {
    return events;
  }

  boolean ended() {
    return ended;
  }

  M message() {
    return message;
  }

  Optional<StoredMessage<Object>> kept() {
    return kept;
  }

  TurnOutbox outgoing() {
    return outgoing;
  }

  /** Returns the id under which the message comes again, or empty if it will not. */
  Optional<String> messageId() {
    return message instanceof Idempotent once ? Optional.of(StoredNames.once(live.id(), once))
        : kept.map(StoredMessage::unique);
  }

  Optional<Note.Answered> known() {
    return message instanceof Idempotent ? live.answered(messageId().orElseThrow()) : Optional.empty();
  }

  /** The actor has ended, and this handler went on. */
  boolean isCutOff() {
    return isCutOff(core);
  }

  static boolean isCutOff(ActorContext<?> core) {
    try {
      core.self();
      return false;
    } catch (IllegalStateException over) {
      return true;
    }
  }

  /** It gets the same answer. */
  void answerAgain(Note.Answered before) {
    if (message instanceof Request<?, ?> request && before.answer().isPresent())
      answer(request, CompletableFuture.completedFuture(live.answersTo(request).decode(before.answer().get())));
  }

  /** Returns notes that are useless now: of this message, and of reminders that were replaced. */
  List<Note> over(ActorNotes ledger) {
    if (!ledger.knowsAny()) return List.of();
    var over = new LinkedHashSet<String>(0);
    messageId().filter(ledger::knows).ifPresent(over::add);
    kept.map(StoredMessage::unique).filter(ledger::knows).ifPresent(over::add);
    for (var id : outgoing.own())
      ledger.known(StoredMessage.beginning(id)).stream().filter(known -> !live.isAside(known)).forEach(over::add);
    return over.stream().<Note>map(Note.Over::new).toList();
  }

  /** Returns the note to remember about a message that it has handled. */
  Optional<Note> answered(Instant now) {
    return message instanceof Idempotent ? Optional.of(new Note.Answered(messageId().orElseThrow(), now, remembered))
        : Optional.empty();
  }

  /** A kept message has no sender that waits for its answer: it is told when the turn is stored. */
  void confirm() {
    boolean ofTheCall = kept.isPresent() && kept.get().id().equals(call.get().id()); // no other's, which went down
    if (ofTheCall && !call.get().asked()) promise(call.get(), CompletableFuture.completedFuture(Done.DONE));
  }

  /** The handler threw: that is all that the asker gets. */
  void fail(CompletableFuture<Void> before, Throwable failure) {
    boolean stored = before.isDone() && !before.isCompletedExceptionally();
    if (answers.isEmpty() && (!stored || failure instanceof RequestStoredException)) promiseAnswer();
    answers.replaceAll(answer -> new TurnAnswer(answer.promised, CompletableFuture.failedFuture(failure)));
    afterwards.clear();
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
  CompletableFuture<Void> leave(CompletableFuture<Void> stored, boolean failed) {
    for (var task : afterwards)
      stored.thenRun(() -> Thread.ofVirtual().name("after " + live.id()).start(() -> run(task)));
    if (answers.isEmpty()) return CompletableFuture.completedFuture(null);
    return stored.handle((none, refused) -> {
      for (var answer : answers) leave(answer, refused, failed);
      return null;
    });
  }

  private void leave(TurnAnswer answer, Throwable refused, boolean failed) {
    if (refused != null) answer.promised.completeExceptionally(live.notStored(this, refused, failed));
    else answer.value.whenComplete((result, failure) -> settle(answer.promised, result, failure));
  }

  private void run(Handler.Task task) {
    try {
      task.run();
    } catch (Throwable failure) {
      LoggerFactory.getLogger(Durable.class).error("what {} does after a turn failed", live.id(), failure);
    }
  }
}
