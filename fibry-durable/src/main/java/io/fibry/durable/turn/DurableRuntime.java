package io.fibry.durable.turn;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Handler;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.durable.StorageFailedException;
import io.fibry.durable.delivery.DurableActor;
import io.fibry.durable.delivery.PendingDelivery;
import io.fibry.durable.kind.DurableDefinition;
import io.fibry.durable.kind.Immutability;
import io.fibry.durable.storage.Body;
import io.fibry.durable.storage.DurableLog;
import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.Note;
import io.fibry.durable.storage.StoreRefusals;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.durable.storage.StoredMessage;
import io.fibry.store.FieldLossException;
import io.fibry.store.Store;
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

/**
 * The loaded state of a durable actor. Turns run ahead of the store: {@code state} is the state
 * after the last turn, even if the store does not have that turn yet. Used by the actor's thread,
 * except where a member says otherwise.
 */
final class DurableRuntime<S, E, M> {
  private static final int MAX_ATTEMPTS = 5; // if the process ended in all these attempts, the message is parked

  private final DurableDefinition<S, E, M> definition;
  private final PendingDelivery delivery;
  private final Store.ActorId id;
  private final TurnPipeline turns;
  private ActorNotes actorNotes;
  private S state;
  private long stateSize; // bytes of the state that was last stored
  private long bytesSinceFullState; // bytes of the last full-state turn and of the later turns
  private int turnsSinceSnapshot;
  private UnknownFields unknownFields = UnknownFields.NONE; // fields that newer code wrote; no turn may erase them
  // Done when all answers of earlier turns are sent.
  private CompletableFuture<Void> allAnswered = TurnPipeline.DONE;
  private boolean isStateDoubtful; // `state` must be read again: a failed handler may have changed it, or a load failed

  DurableRuntime(DurableDefinition<S, E, M> definition, PendingDelivery delivery, Store.ActorId id) throws Exception {
    this.definition = definition;
    this.delivery = delivery;
    this.id = id;
    this.turns = new TurnPipeline(delivery, id, definition.kind().maxUnstoredTurns());
    boolean isLoaded = false;
    try {
      load();
      isLoaded = true;
    } finally {
      if (!isLoaded) turns.endLife();
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

  // ---- the load

  private void load() throws Exception {
    var event = StoreEvents.beginLoad();
    isStateDoubtful = true;
    var loaded = turns.load();
    var recovery = ActorRecovery.of(definition, delivery.store(), id, loaded,
        () -> new ActorNotes(definition.kind(), turns));
    actorNotes = recovery.actorNotes();
    state = recovery.state();
    stateSize = recovery.stateSize();
    bytesSinceFullState = recovery.readBytes();
    turnsSinceSnapshot = recovery.bodyCount();
    unknownFields = recovery.unknownFields();
    isStateDoubtful = false;
    if (event != null) StoreEvents.endLoad(event, id.kind(), id.key(), recovery.bodyCount(), bytesSinceFullState);
  }

  S applyEvent(S stateBefore, E event) {
    return definition.applyEvent(stateBefore, event, turns.nextNumber(), id);
  }

  byte[] encode(E event) {
    return definition.eventCodec().orElseThrow(() -> new IllegalStateException(
        definition + " stores its state, and no events; let the handler return the next state")).encode(event);
  }

  byte[] encodeMessage(M message) {
    return definition.kind().messages().requireCodec().encode(Objects.requireNonNull(message, "message"));
  }

  Codec<Object> answerCodec(Request<?, ?> request) {
    return definition.kind().messages().answerCodec(request.getClass());
  }

  Mail toMail(ActorContext<Object> coreContext, M message, Optional<Duration> period) {
    return Mail.of(encodeMessage(message), period, delivery.blockBuilder.contextText(coreContext.self(), message));
  }

  // ---- messages

  /**
   * Handles a message of type M, or a {@link StoredMessage} that contains such a message. A fiber
   * that sleeps in its handler keeps all frames in memory. So this class has the loop over stored
   * messages, and its type parameters are objects: a method reference would add two frames, and a
   * bridge method one.
   */
  private static final class MessageHandler implements Handler.StatefulWithContext<Object, Object> {
    private static final MessageHandler ONLY = new MessageHandler();

    @Override
    @SuppressWarnings("unchecked") // the address accepts only messages of the kind of the runtime
    public void handle(Object state, Object message, ActorContext<Object> coreContext) throws Exception {
      var runtime = (DurableRuntime<Object, Object, Object>) state;
      if (!(message instanceof StoredMessage<?> call)) runtime.handleUnstored(message, coreContext);
      else if (call.hasAsker()) runtime.handleRequest((StoredMessage<Object>) call, coreContext);
      else {
        // first earlier messages whose own calls the actor never got
        var turn = runtime.beginNextUpTo((StoredMessage<Object>) call, coreContext);
        while (turn != null) {
          if (runtime.shouldHandle(turn)) runtime.handle(turn);
          else runtime.sendAnswers(turn, false);
          // if the turn of the call is refused, a courier sends a new call
          turn = turn.isWokenByItsMessage() ? null
              : runtime.beginNextUpTo((StoredMessage<Object>) call, coreContext);
        }
      }
    }
  }

  @SuppressWarnings("unchecked") // the handler casts the state of each actor itself
  static <S, E, M> Handler.StatefulWithContext<DurableRuntime<S, E, M>, Object> messageHandler() {
    Handler.StatefulWithContext<?, ?> handler = MessageHandler.ONLY;
    return (Handler.StatefulWithContext<DurableRuntime<S, E, M>, Object>) handler;
  }

  private void handleUnstored(M message, ActorContext<Object> coreContext) throws Exception {
    reloadIfNeeded();
    handle(new TurnContext<>(this, state, message, coreContext));
  }

  /** Handles a stored request, unless another life, perhaps on another node, has handled it. */
  private void handleRequest(StoredMessage<Object> request, ActorContext<Object> coreContext) throws Exception {
    request.stage().orElseThrow().set(StoredMessage.RequestStage.BEGUN);
    TurnContext<S, E, M> turn;
    boolean needsTurn;
    try {
      reloadIfNeeded();
      turn = new TurnContext<>(this, state, request, request, coreContext);
      needsTurn = turns.isPending(request) || turn.knownAnswer().isPresent();
    } catch (Throwable failure) { // the request still waits at the store
      coreContext.replyWhen(request,
          CompletableFuture.failedFuture(delivery.requestStoredException(id.key(), request.message(), failure)));
      throw failure;
    }
    if (needsTurn) handle(turn);
    else coreContext.replyWhen(request, CompletableFuture.failedFuture(new NoReplyException(
        delivery.blockBuilder.describeRequest(request) + " was handled by another life of " + id
            + ", whose answer is not known here",
        id.toString(), request)));
  }

  /**
   * Begins the next queued message up to the message of the call. Returns null if there is none.
   * The call then stays open until the earlier turns are stored, so that no courier reads their
   * messages again.
   */
  private TurnContext<S, E, M> beginNextUpTo(StoredMessage<Object> call, ActorContext<Object> coreContext)
      throws Exception {
    var next = nextMessage(call, coreContext);
    if (next.isPresent()) return new TurnContext<>(this, state, next.get(), call, coreContext);
    if (!hasActorEnded(coreContext))
      coreContext.replyWhen(call, turns.lastStored().thenRun(() -> {
        throw new CancellationException("the message was handled, or will be delivered again");
      }));
    return null;
  }

  static boolean hasActorEnded(ActorContext<?> coreContext) {
    try {
      coreContext.self();
      return false;
    } catch (IllegalStateException noActor) {
      return true;
    }
  }

  private Optional<StoredMessage<Object>> nextMessage(StoredMessage<Object> call, ActorContext<Object> coreContext)
      throws Exception {
    if (hasActorEnded(coreContext)) return Optional.empty();
    boolean isReady = false;
    try {
      reloadIfNeeded();
      isReady = true;
    } finally {
      if (!isReady) delivery.halt(id.key());
    }
    return delivery.beginNextUpTo(id.key(), call, () -> hasActorEnded(coreContext));
  }

  private void reloadIfNeeded() throws Exception {
    if (isStateDoubtful || turns.isAnyRefused()) load();
  }

  /** Deletes a parked message that was discarded. */
  private void deleteDiscarded(TurnContext<S, E, M> turn) {
    var outbox = new TurnOutbox(id, delivery);
    turn.storedMessage().ifPresent(outbox::markHandled);
    append(false, Optional.empty(), List.of(), turn.obsoleteNotes(actorNotes), outbox);
    turn.acknowledge();
  }

  /** Returns whether to handle a stored message. If not, acknowledges, deletes or parks it. */
  private boolean shouldHandle(TurnContext<S, E, M> turn) throws InterruptedException {
    var storedMessage = turn.storedMessage().orElseThrow();
    boolean isDecided = false;
    try {
      boolean isHandledByPendingTurn = storedMessage.isReadFromStore() && turns.isBeingHandled(storedMessage);
      boolean isPending = !isHandledByPendingTurn && turns.isPending(storedMessage);
      boolean isDiscarded = isPending && storedMessage.mail().isDiscarded();
      boolean mayBegin = isPending && !isDiscarded && countAttempt(storedMessage);
      if (!isPending && !isHandledByPendingTurn) delivery.complete(id.key(), storedMessage.id(), storedMessage.due());
      if (!isPending) turn.acknowledge();
      else if (isDiscarded) deleteDiscarded(turn);
      else if (!mayBegin)
        park(turn, "it was begun " + MAX_ATTEMPTS + " times after restarts, and each time the process ended");
      isDecided = true;
      return mayBegin;
    } finally {
      if (!isDecided) delivery.halt(id.key()); // the message still waits, and later messages must not overtake it
    }
  }

  /**
   * Counts an attempt at a message that an earlier process may have been handling when it ended.
   * The attempt of the process that received the message is not counted, because the note would
   * cost each message one more fsync. Returns false if the message has had {@link #MAX_ATTEMPTS}
   * attempts already.
   */
  private boolean countAttempt(StoredMessage<?> storedMessage) throws InterruptedException {
    if (!delivery.isFirstAttemptAfterRestart(id.key(), storedMessage)) return true;
    int attempts = actorNotes.attempts(storedMessage.uniqueId());
    if (attempts < MAX_ATTEMPTS) store(List.of(new Note.Begun(storedMessage.uniqueId(), attempts + 1)));
    return attempts < MAX_ATTEMPTS;
  }

  /** Subtracts an attempt at a message that has not caused the failure. */
  private void uncountAttempt(StoredMessage<?> storedMessage) {
    int attempts = actorNotes.attempts(storedMessage.uniqueId());
    if (attempts > 0) append(List.of(new Note.Begun(storedMessage.uniqueId(), attempts - 1)));
  }

  /**
   * Handles a message. Its end is in other methods, which makes the frame of this method small: a
   * fiber that sleeps in its handler keeps the frame in memory.
   */
  private void handle(TurnContext<S, E, M> turn) throws Exception {
    S next = state;
    boolean hasRun = false;
    try {
      if (!turn.tryRepeatAnswer()) {
        hasRun = true;
        next = definition.handler().runTurn(state, turn.message(), turn);
      }
    } catch (Throwable failure) {
      turn.endHandler();
      fail(turn, failure, false);
      throw failure;
    }
    turn.endHandler();
    complete(turn, next, hasRun);
  }

  private void complete(TurnContext<S, E, M> turn, S next, boolean hasRun) throws Exception {
    boolean isAppended = false; // whether the turn was given to the store
    try {
      commit(turn,
          Objects.requireNonNull(next, () -> "the handler of " + definition + " returned null as the next state"),
          hasRun);
      isAppended = true;
      turn.acknowledge();
    } catch (Throwable failure) {
      fail(turn, failure, isAppended);
      throw failure;
    }
    sendAnswers(turn, false);
  }

  private void fail(TurnContext<S, E, M> turn, Throwable failure, boolean isAppended) {
    try {
      isStateDoubtful = !Immutability.isImmutable(state);
      boolean isRetried = !isAppended && retryOrPark(turn, failure);
      turn.fail(turns.lastStored(),
          isRetried ? delivery.requestStoredException(id.key(), turn.message(), failure) : failure);
    } finally {
      sendAnswers(turn, true);
    }
  }

  private void sendAnswers(TurnContext<S, E, M> turn, boolean hasFailed) {
    var allSent = turn.sendAnswers(turns.lastStored(), hasFailed);
    if (!allSent.isDone()) allAnswered = allAnswered.isDone() ? allSent : CompletableFuture.allOf(allAnswered, allSent);
  }

  // ---- failed messages

  /** Parks the message if it caused the failure. Returns whether it is retried and has an asker. */
  private boolean retryOrPark(TurnContext<S, E, M> turn, Throwable failure) {
    if (turn.storedMessage().isEmpty() || turn.hasActorEnded()) return false; // a later life handles a stored message
    boolean hasAsker = turn.storedMessage().get().hasAsker();
    boolean isMessageFault = FailureClassifier.isMessageFault(failure);
    boolean isParked = isMessageFault;
    try {
      if (isParked) park(turn, Lines.thrown(failure));
      else uncountAttempt(turn.storedMessage().get());
    } catch (Throwable parkFailure) {
      isParked = false;
      failure.addSuppressed(parkFailure);
    }
    if (!isParked && !hasAsker) delivery.halt(id.key()); // later messages must not overtake the message
    return hasAsker && !isMessageFault; // not `!isParked`: if park(..) threw, the message may be deleted
  }

  /**
   * Takes a failed message out of the queue. If an asker waits for its answer, the message is
   * deleted. Otherwise it is parked for an operator, and the notes about its steps stay.
   */
  private void park(TurnContext<S, E, M> turn, String reason) {
    var storedMessage = turn.storedMessage().orElseThrow();
    var outbox = new TurnOutbox(id, delivery);
    outbox.markHandled(storedMessage);
    // set before the cancellation is read, because an asker that stops waiting cancels the request
    // before it reads the stage
    storedMessage.stage().ifPresent(stage -> stage.set(StoredMessage.RequestStage.FAILED));
    boolean mustPark = !storedMessage.hasAsker() || turn.isCancelledByAsker();
    if (mustPark) outbox.park(storedMessage, bytesOf(storedMessage, turn.message()), reason);
    append(false, Optional.empty(), List.of(),
        mustPark ? actorNotes.parkingNotes(turn.messageId(), storedMessage.uniqueId()) : turn.obsoleteNotes(actorNotes),
        outbox);
    if (mustPark) StoreRegistry.of(delivery.store()).failureLog().logParked(id, storedMessage, reason);
    turn.acknowledge();
  }

  /**
   * Returns the bytes as the store has them, because newer code may have written fields that this
   * code does not know. If the message comes from a sender in this process, encodes it.
   */
  private byte[] bytesOf(StoredMessage<?> storedMessage, M message) {
    byte[] bytes = storedMessage.mail().message();
    return bytes.length > 0 ? bytes : encodeMessage(message);
  }

  // ---- turns

  private void commit(TurnContext<S, E, M> turn, S next, boolean hasRun) throws Exception {
    var outbox = turn.outbox();
    outbox.markCommitted();
    turn.storedMessage().ifPresent(outbox::markHandled);
    if (turn.isErased()) outbox.cancelAll(turns.reminders());
    var notes = new ArrayList<>(turn.obsoleteNotes(actorNotes));
    if (hasRun) turn.answerNote(delivery.now()).ifPresent(notes::add);
    if (unknownFields.wouldLoseFields(definition.eventCodec().isEmpty() && next != state, turn.isErased())) {
      turn.storedMessage().ifPresent(this::uncountAttempt); // the message waits for newer code
      turns.refuse(new FieldLossException(id, turns.nextNumber(), unknownFields.field()));
    } else if (turn.isErased()) eraseState(turn.events(), notes, outbox);
    else if (definition.eventCodec().isEmpty()) commitState(next, notes, outbox);
    else if (!turn.events().isEmpty() || !notes.isEmpty() || !outbox.isEmpty()) {
      append(false, Optional.empty(), turn.events(), notes, outbox);
      state = next;
      if (definition.stateCodec().isPresent() && ++turnsSinceSnapshot >= definition.kind().snapshotEvery()) snapshot();
    }
  }

  /** Stores the turn that erases the actor. The notes stay, because senders may repeat messages. */
  private void eraseState(List<byte[]> lastEvents, List<Note> notes, TurnOutbox outbox) throws Exception {
    S initialState = definition.newState(id);
    var allNotes = actorNotes.allNotes();
    allNotes.addAll(notes);
    byte[] body = new Body(Optional.empty(), List.of(), allNotes, lastEvents).bytes(id);
    turns.erase(body, outbox);
    bytesSinceFullState = body.length;
    actorNotes.addAll(notes);
    stateSize = 0;
    state = initialState;
    unknownFields = UnknownFields.NONE;
  }

  /** Stores a turn, with the full state if that costs no more bytes than the next load saves. */
  private void commitState(S next, List<Note> notes, TurnOutbox outbox) {
    boolean isChanged = next != state;
    if (!isChanged && notes.isEmpty() && outbox.isEmpty()) return;
    long stateCost = isChanged ? 0 : stateSize; // a changed state is written in any case
    boolean isFullState = !unknownFields.hasAny() && stateCost + actorNotes.size() <= bytesSinceFullState;
    var encodedState = isChanged || isFullState ? Optional.of(definition.stateCodec().orElseThrow().encode(next))
        : Optional.<byte[]>empty();
    try {
      append(isFullState, encodedState, List.of(), notes, outbox);
    } catch (IllegalArgumentException | CodecException tooLarge) {
      if (!isFullState) throw tooLarge;
      append(false, encodedState, List.of(), notes, outbox); // without the earlier notes
    }
    encodedState.ifPresent(bytes -> stateSize = bytes.length);
    state = next;
  }

  /** Stores a turn that contains only notes, and waits until it is stored. */
  void store(List<Note> notes) throws InterruptedException {
    append(notes);
    turns.awaitLast();
  }

  /** Gives the store a turn that contains only notes. */
  void append(List<Note> notes) {
    append(false, Optional.empty(), List.of(), notes, new TurnOutbox(id, delivery));
  }

  private void append(boolean isFullState, Optional<byte[]> encodedState, List<byte[]> events, List<Note> notes,
      TurnOutbox outbox) {
    var storedNotes = isFullState ? actorNotes.allNotes() : new ArrayList<Note>(notes.size());
    storedNotes.addAll(notes);
    append(new Body(encodedState, events, storedNotes).bytes(id), isFullState, notes, outbox);
  }

  private void append(byte[] body, boolean isFullState, List<Note> notes, TurnOutbox outbox) {
    turns.append(body, isFullState, outbox);
    bytesSinceFullState = isFullState ? body.length : bytesSinceFullState + body.length;
    actorNotes.addAll(notes);
  }

  private void snapshot() {
    turnsSinceSnapshot = 0;
    if (unknownFields.hasAny())
      StoreRegistry.of(delivery.store()).failureLog().logNoSnapshot(id, unknownFields.field());
    else storeSnapshot();
  }

  private void storeSnapshot() {
    try {
      var bytes = definition.stateCodec().orElseThrow().encode(state);
      var body = new Body(Optional.of(bytes), List.of(), actorNotes.allNotes()).bytes();
      turns.snapshot(body);
    } catch (Throwable failure) { // harmless, because the turns are stored
      DurableLog.LOG.warn("{} could not store a snapshot, and tries again later", id, failure);
    }
  }

  // ---- for a turn

  boolean isParked(String uniqueId) {
    return turns.isParked(uniqueId);
  }

  boolean hasAttempts(String uniqueId) {
    return actorNotes.attempts(uniqueId) > 0;
  }

  List<Note.Step> steps(String messageId) {
    return actorNotes.steps(messageId);
  }

  Optional<Note.Answered> knownAnswer(String messageId) {
    return actorNotes.knownAnswer(messageId, delivery.now());
  }

  /**
   * Returns the exception for the asker of a refused turn. A stored request then still waits at the
   * store, unless its handler failed and the turn that deletes the request may be stored. The
   * store's thread calls this method, too.
   */
  StorageFailedException notStored(TurnContext<S, E, M> turn, Throwable refusal, boolean hasFailed) {
    var cause = StoreRefusals.causeOf(refusal);
    boolean isPending =
        turn.storedMessage().filter(StoredMessage::hasAsker).isPresent()
            && !(hasFailed && cause.outcome() == RequestOutcome.UNKNOWN);
    return new StorageFailedException(id + " handled " + delivery.blockBuilder.describeRequest(turn.message())
        + ", and could not store the effects", id.toString(), turn.message(), cause,
        isPending ? RequestOutcome.WILL_BE_DONE : cause.outcome());
  }

  TurnPipeline turns() {
    return turns;
  }

  // ---- the end

  void end() throws InterruptedException {
    try {
      turns.lastStored().exceptionally(refusal -> null).get();
      allAnswered.get();
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    } finally {
      turns.endLife();
    }
  }
}
