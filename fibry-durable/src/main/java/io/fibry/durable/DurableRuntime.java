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
  private static final int MOST_BEGUN = 5; // times, by processes that ended

  private final DurableDefinition<S, E, M> definition;
  private final PendingDelivery delivery;
  private final Store.ActorId id;
  private final TurnPipeline turns;
  private ActorNotes ledger;
  private S state;
  private long stateSize; // in bytes, when it was last stored
  private long sinceWhole; // bytes of turns that are read beside the last whole one
  private int sinceSnapshot; // turns
  private UnknownFields unknown = UnknownFields.NONE; // fields that a node with older code must not erase
  private CompletableFuture<Void> told = CompletableFuture.completedFuture(null); // done when all answers have left
  private boolean doubtful; // a handler that threw may have changed the state, or it was not read to its end

  DurableRuntime(DurableDefinition<S, E, M> definition, PendingDelivery delivery, Store.ActorId id) throws Exception {
    this.definition = definition;
    this.delivery = delivery;
    this.id = id;
    this.turns = new TurnPipeline(delivery, id, definition.kind().ahead());
    boolean read = false;
    try {
      load();
      read = true;
    } finally {
      if (!read) turns.leave();
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
    doubtful = true;
    var loaded = turns.load();
    var kind = definition.kind();
    var reading = ActorRecovery.of(definition, delivery.store(), id, loaded,
        () -> new ActorNotes(kind.remembers(), kind.rememberedFor(), turns::isAside));
    ledger = reading.ledger();
    state = reading.state();
    stateSize = reading.stateSize();
    sinceWhole = reading.size();
    sinceSnapshot = reading.count();
    unknown = reading.unknown();
    doubtful = false;
    if (event != null) StoreEvents.endLoad(event, id.kind(), id.key(), reading.count(), sinceWhole);
  }

  S after(S before, E event) {
    return definition.after(before, event, turns.next(), id);
  }

  byte[] encode(E event) {
    return definition.events().orElseThrow(() -> new IllegalStateException(
        definition + " keeps its state, and no events; let the handler answer the next state")).encode(event);
  }

  byte[] encodeMessage(M message) {
    return definition.kind().messages().known().encode(Objects.requireNonNull(message, "message"));
  }

  Codec<Object> answersTo(Request<?, ?> request) {
    return definition.kind().messages().answersTo(request.getClass());
  }

  Mail mail(ActorContext<Object> core, M message, Optional<Duration> every) {
    return Mail.of(encodeMessage(message), every, delivery.how.contextText(core.self(), message));
  }

  // ---- messages

  /** Handles a message of a user, or a kept message. */
  @SuppressWarnings("unchecked") // the address takes no others
  void handle(Object given, ActorContext<Object> core) throws Exception {
    if (given instanceof StoredMessage<?> call && !call.asked()) handleUpTo((StoredMessage<Object>) call, core);
    else if (given instanceof StoredMessage<?> asked) handleAsked((StoredMessage<Object>) asked, core);
    else {
      readAgain();
      handle(new TurnContext<>(this, state, (M) given, core));
    }
  }

  /** Another life may have handled it, such as one on another node. */
  private void handleAsked(StoredMessage<Object> asked, ActorContext<Object> core) throws Exception {
    asked.reached().orElseThrow().set(StoredMessage.RequestStage.BEGUN);
    TurnContext<S, E, M> turn;
    boolean waits;
    try {
      readAgain();
      turn = new TurnContext<>(this, state, asked, asked, core);
      waits = turns.waits(asked) || turn.known().isPresent();
    } catch (Throwable unread) { // the message continues to wait
      core.replyWhen(asked,
          CompletableFuture.failedFuture(RequestStoredException.of(id, delivery, asked.message(), unread)));
      throw unread;
    }
    if (waits) handle(turn);
    else core.replyWhen(asked, CompletableFuture.failedFuture(new NoReplyException(
        delivery.how.describeRequest(asked) + " was handled by another life of " + id
            + ", whose answer is not known here",
        id.toString(), asked)));
  }

  /** Where calls were lost, it has some before that one. */
  private void handleUpTo(StoredMessage<Object> call, ActorContext<Object> core) throws Exception {
    boolean called = false;
    for (var next = next(call, core); next.isPresent(); next = next(call, core)) {
      called |= next.get().id().equals(call.id());
      handleKept(new TurnContext<>(this, state, next.get(), call, core));
    }
    // when those before it are stored: as long as it is called, they are in hand
    if (!called && !TurnContext.isCutOff(core))
      core.replyWhen(call, turns.last().thenRun(() -> {
        throw new CancellationException("it was handled, or is given again");
      }));
  }

  private Optional<StoredMessage<Object>> next(StoredMessage<Object> call, ActorContext<Object> core) throws Exception {
    if (TurnContext.isCutOff(core)) return Optional.empty();
    boolean read = false;
    try {
      readAgain();
      read = true;
    } finally {
      if (!read) delivery.halt(id.key());
    }
    return delivery.next(id.key(), call, () -> TurnContext.isCutOff(core));
  }

  private void readAgain() throws Exception {
    if (doubtful || turns.areRefused()) load();
  }

  private void handleKept(TurnContext<S, E, M> turn) throws Exception {
    if (isToBeHandled(turn)) handle(turn);
    else leave(turn, false);
  }

  /** Removes a message that was parked. */
  private void remove(TurnContext<S, E, M> turn) {
    var outgoing = new TurnOutbox(id, delivery);
    turn.kept().ifPresent(outgoing::done);
    append(false, Optional.empty(), List.of(), turn.over(ledger), outgoing);
    turn.confirm();
  }

  private boolean isToBeHandled(TurnContext<S, E, M> turn) throws InterruptedException {
    var kept = turn.kept().orElseThrow();
    boolean known = false;
    try {
      boolean leaves = kept.looked() && turns.isLeaving(kept); // it is in hand until that is stored
      boolean waits = !leaves && turns.waits(kept);
      boolean removed = waits && kept.mail().isRemoved();
      boolean begun = waits && !removed && begin(kept);
      if (!waits && !leaves) delivery.done(id.key(), kept.id(), kept.due()); // it was handled or removed
      if (!waits) turn.confirm();
      else if (removed) remove(turn);
      else if (!begun) putAside(turn, "it was begun " + MOST_BEGUN + " times, and each time the process ended");
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
  private boolean begin(StoredMessage<?> kept) throws InterruptedException {
    if (!delivery.isFirstOfOld(id.key(), kept)) return true;
    int times = ledger.begun(kept.unique());
    if (times < MOST_BEGUN) store(List.of(new Note.Begun(kept.unique(), times + 1)));
    return times < MOST_BEGUN;
  }

  /** It was not the message. */
  private void beginNot(StoredMessage<?> kept) {
    int times = ledger.begun(kept.unique());
    if (times > 0) append(List.of(new Note.Begun(kept.unique(), times - 1)));
  }

  private void handle(TurnContext<S, E, M> turn) throws Exception {
    boolean given = false; // to the store
    boolean failed = false;
    try {
      var known = turn.known();
      known.ifPresent(turn::answerAgain);
      S next = known.isPresent() ? state : turn.run(definition.run());
      commit(turn, Objects.requireNonNull(next, () -> definition + " answered null as its next state"),
          known.isEmpty());
      given = true;
      turn.confirm();
    } catch (Throwable failure) {
      failed = true;
      doubtful = !Immutability.isValue(state);
      boolean again = !given && comesAgain(turn, failure);
      turn.fail(turns.last(), again ? RequestStoredException.of(id, delivery, turn.message(), failure) : failure);
      throw failure;
    } finally {
      leave(turn, failed);
    }
  }

  private void leave(TurnContext<S, E, M> turn, boolean failed) {
    var left = turn.leave(turns.last(), failed);
    if (!left.isDone()) told = told.isDone() ? left : CompletableFuture.allOf(told, left);
  }

  // ---- what waits

  /** Returns true if the message continues to wait, which its asker must know. */
  private boolean comesAgain(TurnContext<S, E, M> turn, Throwable failure) {
    if (turn.kept().isEmpty() || turn.isCutOff()) return false; // another life handles it
    boolean asked = turn.kept().get().asked();
    boolean ofTheMessage = FailureClassifier.isOfTheMessage(failure);
    boolean aside = ofTheMessage;
    try {
      if (aside) putAside(turn, Lines.thrown(failure));
      else beginNot(turn.kept().get());
    } catch (Throwable again) {
      aside = false;
      failure.addSuppressed(again);
    }
    if (!aside && !asked) delivery.halt(id.key()); // the message continues to wait
    return asked && !ofTheMessage; // where it cannot be parked, the store may have removed it
  }

  /**
   * It waits for the actor no more. Its asker is told; without one, it waits for a human, and its
   * steps stay.
   */
  private void putAside(TurnContext<S, E, M> turn, String reason) {
    var kept = turn.kept().orElseThrow();
    var outgoing = new TurnOutbox(id, delivery);
    outgoing.done(kept);
    // first: an asker gives up, and reads it then
    kept.reached().ifPresent(stage -> stage.set(StoredMessage.RequestStage.FAILED));
    boolean aside = !kept.asked() || turn.isGivenUp();
    if (aside) outgoing.putAside(kept, bytesOf(kept, turn.message()), reason);
    append(false, Optional.empty(), List.of(),
        aside ? ledger.putAside(turn.messageId(), kept.unique()) : turn.over(ledger), outgoing);
    if (aside) StoreRegistry.of(delivery.store()).refusals().putAside(id, kept, reason);
    turn.confirm();
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
    turn.kept().ifPresent(outgoing::done);
    if (turn.ended()) outgoing.end(turns.reminders());
    var notes = new ArrayList<>(turn.over(ledger));
    if (isNew) turn.answered(delivery.now()).ifPresent(notes::add);
    if (unknown.isErasedBy(definition.events().isEmpty() && next != state, turn.ended())) {
      turn.kept().ifPresent(this::beginNot);
      turns.refuse(new UnknownFieldsException(id, turns.next(), unknown.field())); // a kept message waits
    } else if (turn.ended()) end(turn.events(), notes, outgoing);
    else if (definition.events().isEmpty()) commitState(next, notes, outgoing);
    else if (!turn.events().isEmpty() || !notes.isEmpty() || !outgoing.isEmpty()) {
      append(false, Optional.empty(), turn.events(), notes, outgoing);
      state = next;
      if (definition.state().isPresent() && ++sinceSnapshot >= definition.kind().snapshotEvery()) snapshot();
    }
  }

  /** Notes about messages stay, because these may come again. */
  private void end(List<byte[]> last, List<Note> notes, TurnOutbox outgoing) throws Exception {
    S anew = definition.initial(id);
    var all = ledger.all();
    all.addAll(notes);
    byte[] body = new Body(Optional.empty(), List.of(), all, last).bytes(id);
    turns.end(body, outgoing);
    sinceWhole = body.length;
    notes.forEach(ledger::add);
    stateSize = 0;
    state = anew;
    unknown = UnknownFields.NONE;
  }

  /** A turn says all where that costs no more than what it spares at the next reading. */
  private void commitState(S next, List<Note> notes, TurnOutbox outgoing) {
    boolean changed = next != state;
    if (!changed && notes.isEmpty() && outgoing.isEmpty()) return;
    long ofState = changed ? 0 : stateSize; // it is written again, or anyway
    boolean whole = !unknown.isAny() && ofState + ledger.size() <= sinceWhole;
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
    var all = whole ? ledger.all() : new ArrayList<Note>(notes.size());
    all.addAll(notes);
    append(new Body(written, events, all).bytes(id), whole, notes, outgoing);
  }

  private void append(byte[] body, boolean whole, List<Note> notes, TurnOutbox outgoing) {
    turns.append(body, whole, outgoing);
    sinceWhole = whole ? body.length : sinceWhole + body.length;
    notes.forEach(ledger::add);
  }

  private void snapshot() {
    sinceSnapshot = 0;
    if (unknown.isAny()) StoreRegistry.of(delivery.store()).refusals().noSnapshot(id, unknown.field());
    else storeSnapshot();
  }

  private void storeSnapshot() {
    try {
      var bytes = definition.state().orElseThrow().encode(state);
      var body = new Body(Optional.of(bytes), List.of(), ledger.all()).bytes();
      turns.snapshot(body);
    } catch (Throwable failure) { // the turns are stored
      LoggerFactory.getLogger(Durable.class).warn("{} goes on without a snapshot", id, failure);
    }
  }

  // ---- what a turn asks

  boolean isAside(String message) {
    return turns.isAside(message);
  }

  boolean isBegun(String message) {
    return ledger.begun(message) > 0;
  }

  List<Note.Step> steps(String message) {
    return ledger.steps(message);
  }

  Optional<Note.Answered> answered(String message) {
    return ledger.answer(message, delivery.now());
  }

  /** A failed turn removes its message, which is done in no other turn. */
  NotStoredException notStored(TurnContext<S, E, M> turn, Throwable refused, boolean failed) {
    var cause = TurnPipeline.cause(refused);
    boolean kept =
        turn.kept().filter(StoredMessage::asked).isPresent() && !(failed && cause.outcome() == Outcome.UNKNOWN);
    return NotStoredException.ofTurn(id.toString(), delivery.how.describeRequest(turn.message()), turn.message(), cause,
        kept ? Outcome.WILL_BE_DONE : cause.outcome());
  }

  void awaitLast() throws InterruptedException {
    turns.awaitLast();
  }

  // ---- the end

  void end() throws InterruptedException {
    try {
      turns.last().exceptionally(logged -> null).get();
      told.get();
    } catch (ExecutionException never) {
      throw new AssertionError(never);
    } finally {
      turns.leave();
    }
  }
}
