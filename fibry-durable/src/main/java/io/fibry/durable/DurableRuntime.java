package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.NoReplyException;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.store.UnknownFieldsException;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.LoggerFactory;

/**
 * What a living actor knows. Its turns run ahead of the store: {@code state} is the one after the
 * last turn, also if that is not stored yet. Used by the actor's thread, except where a member says
 * otherwise.
 */
final class DurableRuntime<S, E, M> {
  private static final int MAX_ATTEMPTS = 5; // times, by processes that ended

  private final DurableDefinition<S, E, M> definition;
  private final PendingDelivery delivery;
  private final Store.ActorId id;
  private final TurnPipeline turns;
  private ActorNotes actorNotes;
  private S state;
  private long stateSize; // in bytes, when it was last stored
  private long bytesSinceFullState; // bytes of turns that are read beside the last whole one
  private int turnsSinceSnapshot; // turns
  private UnknownFields unknownFields = UnknownFields.NONE; // fields that a node with older code must not erase
  // Done when all answers have left.
  private CompletableFuture<Void> allAnswered = CompletableFuture.completedFuture(null);
  private boolean isStateDoubtful; // a handler that threw may have changed the state, or it was not read to its end

  DurableRuntime(DurableDefinition<S, E, M> definition, PendingDelivery delivery, Store.ActorId id) throws Exception {
    this.definition = definition;
    this.delivery = delivery;
    this.id = id;
    this.turns = new TurnPipeline(delivery, id, definition.kind().maxUnstoredTurns());
    boolean read = false;
    try {
      load();
      read = true;
    } finally {
      if (!read) turns.endLife();
    }
  }

  Store.ActorId id() {
    return id;
  }

  PendingDelivery delivery() {
    return delivery;
  }

  Actor<M> address(Actor<Object> self) {
    return new DurableActor<>(self, definition.kind(), delivery, id.key(), self);
  }

  // ---- reading

  private void load() throws Exception {
    var event = StoreEvents.beginLoad();
    isStateDoubtful = true;
    var loaded = turns.load();
    var kind = definition.kind();
    var reading = ActorRecovery.of(definition, delivery.store(), id, loaded,
        () -> new ActorNotes(kind.maxRememberedAnswers(), kind.rememberedTime(), turns::isParked));
    actorNotes = reading.actorNotes();
    state = reading.state();
    stateSize = reading.stateSize();
    bytesSinceFullState = reading.size();
    turnsSinceSnapshot = reading.count();
    unknownFields = reading.unknown();
    isStateDoubtful = false;
    if (event != null) StoreEvents.endLoad(event, id.kind(), id.key(), reading.count(), bytesSinceFullState);
  }

  S applyEvent(S before, E event) {
    return definition.applyEvent(before, event, turns.nextNumber(), id);
  }

  byte[] encode(E event) {
    return definition.events().orElseThrow(() -> new IllegalStateException(
        definition + " keeps its state, and no events; let the handler answer the next state")).encode(event);
  }

  byte[] encodeMessage(M message) {
    return definition.kind().messages().requireCodec().encode(Objects.requireNonNull(message, "message"));
  }

  Codec<Object> answerCodec(Request<?, ?> request) {
    return definition.kind().messages().answerCodec(request.getClass());
  }

  Mail toMail(ActorContext<Object> core, M message, Optional<Duration> every) {
    return Mail.of(encodeMessage(message), every, delivery.blockBuilder.contextText(core.self(), message));
  }

  // ---- messages

  /** Handles a message of a user, or a kept message. */
  @SuppressWarnings("unchecked") // the address takes no others
  void handle(Object given, ActorContext<Object> core) throws Exception {
    if (given instanceof StoredMessage<?> call && !call.hasAsker())
      handleQueuedUpTo((StoredMessage<Object>) call, core);
    else if (given instanceof StoredMessage<?> asked) handleRequest((StoredMessage<Object>) asked, core);
    else {
      reloadIfNeeded();
      handle(new TurnContext<>(this, state, (M) given, core));
    }
  }

  /** Another life may have handled it, such as one on another node. */
  private void handleRequest(StoredMessage<Object> asked, ActorContext<Object> core) throws Exception {
    asked.stage().orElseThrow().set(StoredMessage.RequestStage.BEGUN);
    TurnContext<S, E, M> turn;
    boolean waits;
    try {
      reloadIfNeeded();
      turn = new TurnContext<>(this, state, asked, asked, core);
      waits = turns.isPending(asked) || turn.knownAnswer().isPresent();
    } catch (Throwable unread) { // the message continues to wait
      core.replyWhen(asked,
          CompletableFuture.failedFuture(RequestStoredException.of(id, delivery, asked.message(), unread)));
      throw unread;
    }
    if (waits) handle(turn);
    else core.replyWhen(asked, CompletableFuture.failedFuture(new NoReplyException(
        delivery.blockBuilder.describeRequest(asked) + " was handled by another life of " + id
            + ", whose answer is not known here",
        id.toString(), asked)));
  }

  /** Where calls were lost, it has some before that one. */
  private void handleQueuedUpTo(StoredMessage<Object> call, ActorContext<Object> core) throws Exception {
    boolean called = false;
    for (var next = nextMessage(call, core); next.isPresent(); next = nextMessage(call, core)) {
      called |= next.get().id().equals(call.id());
      handleKept(new TurnContext<>(this, state, next.get(), call, core));
    }
    // when those before it are stored: as long as it is called, they are in hand
    if (!called && !TurnContext.hasActorEnded(core))
      core.replyWhen(call, turns.last().thenRun(() -> {
        throw new CancellationException("it was handled, or is given again");
      }));
  }

  private Optional<StoredMessage<Object>> nextMessage(StoredMessage<Object> call, ActorContext<Object> core)
      throws Exception {
    if (TurnContext.hasActorEnded(core)) return Optional.empty();
    boolean read = false;
    try {
      reloadIfNeeded();
      read = true;
    } finally {
      if (!read) delivery.halt(id.key());
    }
    return delivery.nextMessage(id.key(), call, () -> TurnContext.hasActorEnded(core));
  }

  private void reloadIfNeeded() throws Exception {
    if (isStateDoubtful || turns.isAnyRefused()) load();
  }

  private void handleKept(TurnContext<S, E, M> turn) throws Exception {
    if (shouldHandle(turn)) handle(turn);
    else sendAnswers(turn, false);
  }

  /** Removes a message that was parked. */
  private void remove(TurnContext<S, E, M> turn) {
    var outgoing = new TurnOutbox(id, delivery);
    turn.storedMessage().ifPresent(outgoing::markHandled);
    append(false, Optional.empty(), List.of(), turn.obsoleteNotes(actorNotes), outgoing);
    turn.acknowledge();
  }

  private boolean shouldHandle(TurnContext<S, E, M> turn) throws InterruptedException {
    var kept = turn.storedMessage().orElseThrow();
    boolean known = false;
    try {
      boolean leaves = kept.isRead() && turns.isBeingHandled(kept); // it is in hand until that is stored
      boolean waits = !leaves && turns.isPending(kept);
      boolean removed = waits && kept.mail().isRemoved();
      boolean begun = waits && !removed && countAttempt(kept);
      if (!waits && !leaves) delivery.complete(id.key(), kept.id(), kept.due()); // it was handled or removed
      if (!waits) turn.acknowledge();
      else if (removed) remove(turn);
      else if (!begun) park(turn, "it was begun " + MAX_ATTEMPTS + " times, and each time the process ended");
      known = true;
      return begun;
    } finally {
      if (!known) delivery.halt(id.key()); // the message continues to wait
    }
  }

  /**
   * Counts a message that the process before may have died of. Returns false if the message was
   * begun too often.
   */
  private boolean countAttempt(StoredMessage<?> kept) throws InterruptedException {
    if (!delivery.isFirstAttemptAfterRestart(id.key(), kept)) return true;
    int times = actorNotes.attempts(kept.uniqueId());
    if (times < MAX_ATTEMPTS) store(List.of(new Note.Begun(kept.uniqueId(), times + 1)));
    return times < MAX_ATTEMPTS;
  }

  /** It was not the message. */
  private void uncountAttempt(StoredMessage<?> kept) {
    int times = actorNotes.attempts(kept.uniqueId());
    if (times > 0) append(List.of(new Note.Begun(kept.uniqueId(), times - 1)));
  }

  private void handle(TurnContext<S, E, M> turn) throws Exception {
    boolean given = false; // to the store
    boolean failed = false;
    try {
      var known = turn.knownAnswer();
      known.ifPresent(turn::repeatAnswer);
      S next = known.isPresent() ? state : turn.run(definition.handler());
      commit(turn, Objects.requireNonNull(next, () -> definition + " answered null as its next state"),
          known.isEmpty());
      given = true;
      turn.acknowledge();
    } catch (Throwable failure) {
      failed = true;
      isStateDoubtful = !Immutability.isImmutable(state);
      boolean again = !given && retryOrPark(turn, failure);
      turn.fail(turns.last(), again ? RequestStoredException.of(id, delivery, turn.message(), failure) : failure);
      throw failure;
    } finally {
      sendAnswers(turn, failed);
    }
  }

  private void sendAnswers(TurnContext<S, E, M> turn, boolean failed) {
    var left = turn.sendAnswers(turns.last(), failed);
    if (!left.isDone()) allAnswered = allAnswered.isDone() ? left : CompletableFuture.allOf(allAnswered, left);
  }

  // ---- what waits

  /** Returns true if the message continues to wait, which its asker must know. */
  private boolean retryOrPark(TurnContext<S, E, M> turn, Throwable failure) {
    if (turn.storedMessage().isEmpty() || turn.hasActorEnded()) return false; // another life handles it
    boolean asked = turn.storedMessage().get().hasAsker();
    boolean ofTheMessage = FailureClassifier.isMessageFault(failure);
    boolean parked = ofTheMessage;
    try {
      if (parked) park(turn, Lines.thrown(failure));
      else uncountAttempt(turn.storedMessage().get());
    } catch (Throwable again) {
      parked = false;
      failure.addSuppressed(again);
    }
    if (!parked && !asked) delivery.halt(id.key()); // the message continues to wait
    return asked && !ofTheMessage; // where it cannot be parked, the store may have removed it
  }

  /**
   * It waits for the actor no more. Its asker is told; without one, it waits for a human, and its
   * steps stay.
   */
  private void park(TurnContext<S, E, M> turn, String reason) {
    var kept = turn.storedMessage().orElseThrow();
    var outgoing = new TurnOutbox(id, delivery);
    outgoing.markHandled(kept);
    // first: an asker gives up, and reads it then
    kept.stage().ifPresent(stage -> stage.set(StoredMessage.RequestStage.FAILED));
    boolean parked = !kept.hasAsker() || turn.isCancelledByAsker();
    if (parked) outgoing.park(kept, bytesOf(kept, turn.message()), reason);
    append(false, Optional.empty(), List.of(),
        parked ? actorNotes.park(turn.messageId(), kept.uniqueId()) : turn.obsoleteNotes(actorNotes), outgoing);
    if (parked) StoreRegistry.of(delivery.store()).failureLog().logParked(id, kept, reason);
    turn.acknowledge();
  }

  /**
   * Returns the bytes that the store has, because newer code may have written more fields. A sender
   * here has no bytes.
   */
  private byte[] bytesOf(StoredMessage<?> kept, M message) {
    byte[] stored = kept.mail().message();
    return stored.length > 0 ? stored : encodeMessage(message);
  }

  // ---- turns

  private void commit(TurnContext<S, E, M> turn, S next, boolean isNew) throws Exception {
    var outgoing = turn.outgoing();
    turn.storedMessage().ifPresent(outgoing::markHandled);
    if (turn.isErased()) outgoing.cancelAll(turns.reminders());
    var notes = new ArrayList<>(turn.obsoleteNotes(actorNotes));
    if (isNew) turn.answerNote(delivery.now()).ifPresent(notes::add);
    if (unknownFields.isErasedBy(definition.events().isEmpty() && next != state, turn.isErased())) {
      turn.storedMessage().ifPresent(this::uncountAttempt);
      turns.refuse(new UnknownFieldsException(id, turns.nextNumber(), unknownFields.field())); // a kept message waits
    } else if (turn.isErased()) eraseState(turn.events(), notes, outgoing);
    else if (definition.events().isEmpty()) commitState(next, notes, outgoing);
    else if (!turn.events().isEmpty() || !notes.isEmpty() || !outgoing.isEmpty()) {
      append(false, Optional.empty(), turn.events(), notes, outgoing);
      state = next;
      if (definition.state().isPresent() && ++turnsSinceSnapshot >= definition.kind().snapshotEvery()) snapshot();
    }
  }

  /** Notes about messages stay, because these may come again. */
  private void eraseState(List<byte[]> last, List<Note> notes, TurnOutbox outgoing) throws Exception {
    S anew = definition.newState(id);
    var all = actorNotes.allNotes();
    all.addAll(notes);
    byte[] body = new Body(Optional.empty(), List.of(), all, last).bytes(id);
    turns.erase(body, outgoing);
    bytesSinceFullState = body.length;
    notes.forEach(actorNotes::add);
    stateSize = 0;
    state = anew;
    unknownFields = UnknownFields.NONE;
  }

  /** A turn says all where that costs no more than what it spares at the next reading. */
  private void commitState(S next, List<Note> notes, TurnOutbox outgoing) {
    boolean changed = next != state;
    if (!changed && notes.isEmpty() && outgoing.isEmpty()) return;
    long ofState = changed ? 0 : stateSize; // it is written again, or anyway
    boolean whole = !unknownFields.hasAny() && ofState + actorNotes.size() <= bytesSinceFullState;
    var written =
        changed || whole ? Optional.of(definition.state().orElseThrow().encode(next)) : Optional.<byte[]>empty();
    try {
      append(whole, written, List.of(), notes, outgoing);
    } catch (IllegalArgumentException | CodecException tooLarge) {
      if (!whole) throw tooLarge;
      append(false, written, List.of(), notes, outgoing); // without all notes
    }
    written.ifPresent(bytes -> stateSize = bytes.length);
    state = next;
  }

  /** Stores notes by themselves, and waits until they are stored. */
  void store(List<Note> notes) throws InterruptedException {
    append(notes);
    turns.awaitLast();
  }

  private void append(List<Note> notes) {
    append(false, Optional.empty(), List.of(), notes, new TurnOutbox(id, delivery));
  }

  private void append(boolean whole, Optional<byte[]> written, List<byte[]> events, List<Note> notes,
      TurnOutbox outgoing) {
    var all = whole ? actorNotes.allNotes() : new ArrayList<Note>(notes.size());
    all.addAll(notes);
    append(new Body(written, events, all).bytes(id), whole, notes, outgoing);
  }

  private void append(byte[] body, boolean whole, List<Note> notes, TurnOutbox outgoing) {
    turns.append(body, whole, outgoing);
    bytesSinceFullState = whole ? body.length : bytesSinceFullState + body.length;
    notes.forEach(actorNotes::add);
  }

  private void snapshot() {
    turnsSinceSnapshot = 0;
    if (unknownFields.hasAny())
      StoreRegistry.of(delivery.store()).failureLog().logNoSnapshot(id, unknownFields.field());
    else storeSnapshot();
  }

  private void storeSnapshot() {
    try {
      var bytes = definition.state().orElseThrow().encode(state);
      var body = new Body(Optional.of(bytes), List.of(), actorNotes.allNotes()).bytes();
      turns.snapshot(body);
    } catch (Throwable failure) { // the turns are stored
      LoggerFactory.getLogger(Durable.class).warn("{} goes on without a snapshot", id, failure);
    }
  }

  // ---- what a turn asks

  boolean isParked(String message) {
    return turns.isParked(message);
  }

  boolean hasAttempts(String message) {
    return actorNotes.attempts(message) > 0;
  }

  List<Note.Step> steps(String message) {
    return actorNotes.steps(message);
  }

  Optional<Note.Answered> answered(String message) {
    return actorNotes.answer(message, delivery.now());
  }

  /** A failed turn removes its message, which is done in no other turn. */
  NotStoredException notStored(TurnContext<S, E, M> turn, Throwable refused, boolean failed) {
    var cause = TurnPipeline.refusalCause(refused);
    boolean kept =
        turn.storedMessage().filter(StoredMessage::hasAsker).isPresent()
            && !(failed && cause.outcome() == Outcome.UNKNOWN);
    return NotStoredException.ofTurn(id.toString(), delivery.blockBuilder.describeRequest(turn.message()),
        turn.message(), cause,
        kept ? Outcome.WILL_BE_DONE : cause.outcome());
  }

  void awaitLast() throws InterruptedException {
    turns.awaitLast();
  }

  // ---- the end

  void end() throws InterruptedException {
    try {
      turns.last().exceptionally(logged -> null).get();
      allAnswered.get();
    } catch (ExecutionException never) {
      throw new AssertionError(never);
    } finally {
      turns.endLife();
    }
  }
}
