package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorStoppedException;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.StoreWriteException;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.slf4j.LoggerFactory;

/**
 * What a living actor knows. Its turns run ahead of the store: {@code state} is the one after the
 * last turn, also if that is not stored yet. Of the actor's thread, unless said otherwise.
 */
final class Live<S, E, M> {
  private static final CompletableFuture<Void> STORED = CompletableFuture.completedFuture(null);
  private static final int MOST_BEGUN = 5; // times, by processes that ended

  /** What a turn on its way has done, or sends again: the store still has it as it was. */
  private record Leaving(CompletableFuture<Void> stored, Set<String> ids) {}

  private final Definition<S, E, M> definition;
  private final Delivery delivery;
  private final Store store;
  private final Store.Id id;
  private final Semaphore ahead; // given back by the store's thread
  private final ArrayDeque<Leaving> leaving = new ArrayDeque<>();
  private Ledger ledger;
  private Set<String> reminders; // ids of all that are set
  private Backlog backlog;
  private S state;
  private long stateSize; // in bytes, when it was last stored
  private long sinceWhole; // bytes of turns that are read beside the last whole one
  private int sinceSnapshot; // turns
  private long life;
  private long number; // of the last turn
  private CompletableFuture<Void> last = STORED; // done when the last turn is stored, or refused
  private CompletableFuture<Void> told = STORED; // done when all answers have left
  private boolean doubtful; // a handler that threw may have changed the state
  private volatile boolean refused; // a turn of this life was not stored; written by the store's thread

  Live(Definition<S, E, M> definition, Delivery delivery, Store.Id id) throws Exception {
    this.definition = definition;
    this.delivery = delivery;
    this.store = delivery.store();
    this.id = id;
    this.ahead = new Semaphore(definition.kind().ahead());
    load();
  }

  Store.Id id() {
    return id;
  }

  Delivery delivery() {
    return delivery;
  }

  Actor<M> address(Actor<Object> self) {
    return new DurableActor<>(self, definition.kind(), delivery, id.key(), self);
  }

  // ---- reading

  private void load() throws Exception {
    var loaded = store.load(id);
    var kind = definition.kind();
    ledger = new Ledger(kind.remembers(), kind.rememberedFor());
    sinceWhole = 0;
    sinceSnapshot = loaded.bodies().size();
    S read = definition.initial().call();
    long turn = loaded.last() - loaded.bodies().size();
    for (var body : loaded.bodies()) read = after(read, body, ++turn);
    state = read;
    life = loaded.life();
    number = loaded.last();
    reminders = new HashSet<>(loaded.waiting());
    reminders.removeIf(one -> !Mail.isReminder(one));
    backlog = new Backlog(delivery, id, loaded.waiting());
    leaving.clear(); // the store has waited for them
    last = STORED;
    doubtful = false;
    refused = false;
  }

  private S after(S before, byte[] bytes, long turn) {
    try {
      var body = Body.of(bytes);
      S next = before;
      if (body.state().isPresent()) next = definition.state().orElseThrow().decode(body.state().get());
      for (var event : body.events()) next = after(next, definition.events().orElseThrow().decode(event));
      body.notes().forEach(ledger::add);
      stateSize = body.state().map(stored -> (long) stored.length).orElse(stateSize);
      sinceWhole += bytes.length;
      return next;
    } catch (CodecException unknown) {
      throw new CodecException("turn " + turn + " of " + id + " cannot be read: " + unknown.getMessage(), unknown);
    }
  }

  S after(S before, E event) {
    return Objects.requireNonNull(definition.after().apply(before, event),
        () -> definition + " answered null as the state after an event of " + event.getClass().getName());
  }

  byte[] encode(E event) {
    return definition.events().orElseThrow().encode(event);
  }

  byte[] encodeMessage(M message) {
    return definition.kind().messages().known().encode(Objects.requireNonNull(message, "message"));
  }

  // ---- messages

  /** A message of a user, or one that was kept. */
  @SuppressWarnings("unchecked") // the address takes no others
  void handle(Object given, ActorContext<Object> core) throws Exception {
    if (doubtful || refused) load();
    if (!(given instanceof Kept<?> some)) {
      handle(new Turn<>(this, state, (M) given, Optional.empty(), core));
      return;
    }
    var kept = (Kept<Object>) some;
    var turn = new Turn<>(this, state, (M) kept.message(), Optional.of(kept), core);
    if (backlog.isOutOfTurn(kept)) turn.decline();
    else if (!waits(kept)) turn.confirm(); // it was handled meanwhile, or taken back
    else if (begin(kept)) {
      handle(turn);
      return;
    } else putAside(turn, "it was begun " + MOST_BEGUN + " times, and each time the process ended");
    leave(turn);
  }

  /** Counts a message that the process before may have died of. False: too often. */
  private boolean begin(Kept<?> kept) throws InterruptedException {
    if (!delivery.isFirstOfOld(id.key(), kept)) return true;
    int times = ledger.begun(kept.unique());
    if (times < MOST_BEGUN) store(List.of(new Note.Begun(kept.unique(), times + 1)));
    return times < MOST_BEGUN;
  }

  /** It was not the message. */
  private void beginNot(Kept<?> kept) {
    int times = ledger.begun(kept.unique());
    if (times > 0) append(List.of(new Note.Begun(kept.unique(), times - 1)));
  }

  private boolean waits(Kept<?> kept) {
    if (!kept.looked()) return true;
    forgetLeft();
    return leaving.stream().noneMatch(one -> one.ids.contains(kept.id()))
        && store.due(id, kept.id()).equals(Optional.of(kept.due()));
  }

  private void handle(Turn<S, E, M> turn) throws Exception {
    boolean given = false; // to the store
    try {
      var known = turn.known();
      known.ifPresent(turn::answerAgain);
      S next = known.isPresent() ? state : definition.run().handle(state, turn.message(), turn);
      commit(turn, Objects.requireNonNull(next, () -> definition + " answered null as its next state"),
          known.isEmpty());
      given = true;
      turn.confirm();
    } catch (Throwable failure) {
      doubtful = !Values.isValue(state);
      if (!given) failed(turn, failure);
      turn.fail(last, failure);
      throw failure;
    } finally {
      leave(turn);
    }
  }

  private void leave(Turn<S, E, M> turn) {
    var left = turn.leave(last);
    if (!left.isDone()) told = told.isDone() ? left : CompletableFuture.allOf(told, left);
  }

  // ---- what waits

  /** Otherwise it may be handled when it comes again. */
  boolean isOfTheMessage(Throwable failure) {
    if (Thread.currentThread().isInterrupted()) return false;
    for (var cause = failure; cause != null; cause = cause.getCause())
      if (cause instanceof InterruptedException || cause instanceof CancellationException
          || cause instanceof ClosedByInterruptException || cause instanceof StoreException
          || cause instanceof ActorStoppedException || cause instanceof OutOfMemoryError)
        return false;
    return true;
  }

  private void failed(Turn<S, E, M> turn, Throwable failure) {
    if (turn.kept().isEmpty()) return;
    try {
      if (turn.isCutOff()) return; // another life handles it
      if (isOfTheMessage(failure)) putAside(turn, failure.toString());
      else {
        delivery.halt(id.key());
        beginNot(turn.kept().get());
      }
    } catch (Throwable again) { // it goes on waiting
      failure.addSuppressed(again);
    }
  }

  /** It waits for the actor no more. Its asker is told; without one, it waits for a human. */
  private void putAside(Turn<S, E, M> turn, String reason) {
    var kept = turn.kept().orElseThrow();
    var outgoing = new Outgoing(id, delivery);
    outgoing.done(kept);
    if (!kept.asked() || turn.cancelled()) outgoing.putAside(encodeMessage(turn.message()), reason);
    append(false, Optional.empty(), List.of(), turn.over(ledger), outgoing);
    turn.confirm();
  }

  // ---- turns

  private void commit(Turn<S, E, M> turn, S next, boolean isNew) throws Exception {
    var outgoing = turn.outgoing();
    turn.kept().ifPresent(outgoing::done);
    var notes = new ArrayList<>(turn.over(ledger));
    if (isNew) turn.answered(delivery.now()).ifPresent(notes::add);
    if (turn.ended()) end(outgoing);
    else if (definition.events().isEmpty()) commitState(next, notes, outgoing);
    else if (!turn.events().isEmpty() || !notes.isEmpty() || !outgoing.isEmpty()) {
      append(false, Optional.empty(), turn.events(), notes, outgoing);
      state = next;
      if (definition.state().isPresent() && ++sinceSnapshot >= definition.kind().snapshotEvery()) snapshot();
    }
  }

  private void end(Outgoing outgoing) throws Exception {
    outgoing.end(reminders);
    S anew = definition.initial().call();
    append(Body.NOTHING.bytes(), true, List.of(), outgoing);
    ledger = new Ledger(definition.kind().remembers(), definition.kind().rememberedFor());
    state = anew;
  }

  /** A turn says all where that costs no more than what it spares at the next reading. */
  private void commitState(S next, List<Note> notes, Outgoing outgoing) {
    boolean changed = next != state;
    if (!changed && notes.isEmpty() && outgoing.isEmpty()) return;
    long ofState = changed ? 0 : stateSize; // it is written again, or anyway
    boolean whole = ofState + ledger.size() <= sinceWhole;
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

  /** Stores notes by themselves, and waits until they are there. */
  void store(List<Note> notes) throws InterruptedException {
    append(notes);
    awaitLast();
  }

  private void append(List<Note> notes) {
    append(false, Optional.empty(), List.of(), notes, new Outgoing(id, delivery));
  }

  private void append(boolean whole, Optional<byte[]> written, List<byte[]> events, List<Note> notes,
      Outgoing outgoing) {
    var all = whole ? ledger.all() : new ArrayList<Note>(notes.size());
    all.addAll(notes);
    append(new Body(written, events, all).bytes(), whole, notes, outgoing);
  }

  /** Where it throws, nothing is stored. */
  private void append(byte[] body, boolean whole, List<Note> notes, Outgoing outgoing) {
    acquire();
    var turn = new Store.Turn(id, life, number + 1, delivery.now(), whole, body, outgoing.done(), outgoing.sends());
    CompletableFuture<Void> stored;
    try {
      stored = store.append(turn).toCompletableFuture();
    } catch (Throwable refusal) {
      ahead.release();
      if (!(refusal instanceof IllegalArgumentException)) refused = true; // the store may have it
      throw refusal;
    }
    number++;
    sinceWhole = whole ? body.length : sinceWhole + body.length;
    last = stored.whenComplete((none, failure) -> {
      ahead.release();
      if (failure != null) refuse(turn, cause(failure));
    });
    notes.forEach(ledger::add);
    forgetLeft();
    if (!outgoing.isEmpty()) sent(turn, outgoing.own());
  }

  private void sent(Store.Turn turn, Set<String> own) {
    if (!last.isDone()) leaving.add(new Leaving(last, Set.copyOf(own)));
    last.thenRun(() -> Home.of(store).tell(turn.sends())); // when it is stored, and `leaving` says so
    turn.done().forEach(reminders::remove);
    for (var one : turn.sends()) if (one.to().equals(id) && Mail.isReminder(one.id())) reminders.add(one.id());
  }

  private void forgetLeft() {
    while (!leaving.isEmpty() && leaving.peek().stored.isDone()) leaving.poll();
  }

  private void acquire() {
    try {
      if (!ahead.tryAcquire()) ahead.acquire(); // an interrupt matters only while it waits
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(id + " was interrupted while it waited for earlier turns to be stored");
    }
  }

  /** A refusal is noted here before an asker is told. */
  private void refuse(Store.Turn turn, StoreException why) {
    if (refused || turn.life() != life) return;
    delivery.halt(id.key()); // before the actor goes on
    refused = true;
    LoggerFactory.getLogger(Durable.class).error("{} reads its state again, since its turn {} was not stored", id,
        turn.number(), why);
  }

  private void snapshot() {
    sinceSnapshot = 0;
    try {
      var bytes = definition.state().orElseThrow().encode(state);
      var body = new Body(Optional.of(bytes), List.of(), ledger.all()).bytes();
      store.snapshot(new Store.Turn(id, life, number, delivery.now(), true, body, List.of(), List.of()));
    } catch (Throwable failure) { // the turns are there
      LoggerFactory.getLogger(Durable.class).warn("{} goes on without a snapshot", id, failure);
    }
  }

  // ---- what a turn asks

  boolean isBegun(String message) {
    return ledger.begun(message) > 0;
  }

  List<Note.Step> steps(String message) {
    return ledger.steps(message);
  }

  Optional<Note.Answered> answered(String message) {
    return ledger.answer(message, delivery.now());
  }

  NotStoredException notStored(Object request, Throwable failure) {
    return NotStoredException.ofTurn(id.toString(), request, cause(failure));
  }

  static StoreException cause(Throwable failure) {
    var cause = failure instanceof CompletionException || failure instanceof ExecutionException ? failure.getCause()
        : failure;
    return cause instanceof StoreException known ? known : new StoreWriteException("the store failed", cause);
  }

  /** Until all turns so far are stored. */
  void awaitLast() throws InterruptedException {
    try {
      last.get();
    } catch (ExecutionException refusal) {
      throw cause(refusal);
    }
  }

  // ---- the end

  void awaitStored() throws InterruptedException {
    try {
      last.exceptionally(logged -> null).get();
      told.get();
    } catch (ExecutionException never) {
      throw new AssertionError(never);
    }
  }
}
