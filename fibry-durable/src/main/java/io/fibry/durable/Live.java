package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.StoreWriteException;
import java.util.ArrayDeque;
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
  private record Leaving(CompletableFuture<Void> stored, List<String> ids) {}

  private final Definition<S, E, M> definition;
  private final Delivery delivery;
  private final Store store;
  private final Store.Id id;
  private final Semaphore ahead; // given back by the store's thread
  private final ArrayDeque<Leaving> leaving = new ArrayDeque<>();
  private Ledger ledger;
  private Set<String> reminders; // ids of all that are set
  private S state;
  private long stateSize; // in bytes, when it was last stored
  private long sinceWhole; // bytes of turns that are read beside the last whole one
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
    S read = definition.initial().call();
    long turn = loaded.last() - loaded.bodies().size();
    for (var body : loaded.bodies()) read = after(read, body, ++turn);
    state = read;
    life = loaded.life();
    number = loaded.last();
    reminders = new HashSet<>(loaded.waiting());
    reminders.removeIf(one -> !Mail.isReminder(one));
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
    if (!waits(kept)) turn.confirm(); // it was handled meanwhile, or taken back
    else if (kept.old() && ledger.begun(kept.id()) >= MOST_BEGUN) putAside(turn, "it was begun " + MOST_BEGUN
        + " times, and each time the process ended");
    else {
      if (kept.old()) store(new Note.Begun(kept.id(), ledger.begun(kept.id()) + 1));
      handle(turn);
      return;
    }
    leave(turn);
  }

  private boolean waits(Kept<?> kept) {
    if (!kept.looked()) return true;
    while (!leaving.isEmpty() && leaving.peek().stored.isDone()) leaving.poll();
    return leaving.stream().noneMatch(one -> one.ids.contains(kept.id()))
        && store.due(id, kept.id()).equals(Optional.of(kept.due()));
  }

  private void handle(Turn<S, E, M> turn) throws Exception {
    try {
      var known = turn.known();
      known.ifPresent(turn::answerAgain);
      S next = known.isPresent() ? state : definition.run().handle(state, turn.message(), turn);
      commit(turn, Objects.requireNonNull(next, () -> definition + " answered null as its next state"),
          known.isPresent() ? List.of() : turn.notes(ledger, delivery.now()));
      turn.confirm();
    } catch (Throwable failure) {
      doubtful = !Values.isValue(state);
      if (isOfTheMessage(failure)) putAside(turn, failure);
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
  private static boolean isOfTheMessage(Throwable failure) {
    return !(failure instanceof InterruptedException || failure instanceof CancellationException
        || failure instanceof StoreException || failure instanceof OutOfMemoryError);
  }

  private void putAside(Turn<S, E, M> turn, Throwable failure) {
    if (turn.kept().isEmpty()) return;
    try {
      putAside(turn, failure.toString());
    } catch (Throwable again) { // it goes on waiting
      failure.addSuppressed(again);
    }
  }

  /** It waits for the actor no more. Its asker is told; without one, it waits for a human. */
  private void putAside(Turn<S, E, M> turn, String reason) {
    var kept = turn.kept().orElseThrow();
    var outgoing = new Outgoing(id, delivery);
    outgoing.done(kept);
    if (!kept.asked()) outgoing.putAside(encodeMessage(turn.message()), reason);
    List<Note> over = ledger.knows(kept.id()) ? List.of(new Note.Over(kept.id())) : List.of();
    append(() -> new Body(Optional.empty(), List.of(), over), false, over, outgoing);
    turn.confirm();
  }

  // ---- turns

  private void commit(Turn<S, E, M> turn, S next, List<Note> notes) throws Exception {
    var outgoing = turn.outgoing();
    turn.kept().ifPresent(outgoing::done);
    if (turn.ended()) {
      outgoing.end(reminders);
      S anew = definition.initial().call();
      append(() -> Body.NOTHING, true, List.of(), outgoing);
      ledger = new Ledger(definition.kind().remembers(), definition.kind().rememberedFor());
      state = anew;
    } else if (definition.events().isEmpty()) commitState(next, notes, outgoing);
    else if (!turn.events().isEmpty() || !notes.isEmpty() || !outgoing.isEmpty()) {
      append(() -> new Body(Optional.empty(), turn.events(), notes), false, notes, outgoing);
      state = next;
      if (definition.state().isPresent() && number % definition.kind().snapshotEvery() == 0) snapshot();
    }
  }

  /** A turn says all where that costs no more than what it spares at the next reading. */
  private void commitState(S next, List<Note> notes, Outgoing outgoing) {
    boolean changed = next != state;
    if (!changed && notes.isEmpty() && outgoing.isEmpty()) return;
    long ofState = changed ? 0 : stateSize; // it is written again, or anyway
    boolean whole = ofState + ledger.size() <= sinceWhole;
    var written =
        changed || whole ? Optional.of(definition.state().orElseThrow().encode(next)) : Optional.<byte[]>empty();
    append(() -> new Body(written, List.of(), whole ? ledger.all() : notes), whole, notes, outgoing);
    written.ifPresent(bytes -> stateSize = bytes.length);
    state = next;
  }

  /** Stores a note by itself, and waits until it is there. */
  void store(Note note) throws InterruptedException {
    append(() -> new Body(Optional.empty(), List.of(), List.of(note)), false, List.of(note),
        new Outgoing(id, delivery));
    awaitLast();
  }

  /** Makes the body of the next turn from the ledger that has the notes. */
  private interface Writer {
    Body body();
  }

  /** Where it throws, nothing is stored, and the state is read again. */
  private void append(Writer writer, boolean whole, List<Note> notes, Outgoing outgoing) {
    acquire();
    CompletableFuture<Void> stored;
    Store.Turn turn;
    try {
      notes.forEach(ledger::add);
      byte[] body = writer.body().bytes();
      turn = new Store.Turn(id, life, number + 1, delivery.now(), whole, body, outgoing.done(), outgoing.sends());
      stored = store.append(turn).toCompletableFuture();
      sinceWhole = whole ? body.length : sinceWhole + body.length;
    } catch (Throwable refusal) {
      ahead.release();
      refused = true; // the ledger is not as before; and the store may have it
      throw refusal;
    }
    number++;
    var own = turn.sends().stream().filter(one -> one.to().equals(id)).map(Store.Waiting::id).toList();
    last = stored.whenComplete((none, failure) -> {
      ahead.release();
      if (failure != null) refuse(turn, cause(failure));
    });
    if (!turn.sends().isEmpty()) last.thenRun(() -> tell(turn.sends())); // after `leaving` says so
    turn.done().forEach(reminders::remove);
    own.stream().filter(Mail::isReminder).forEach(reminders::add);
    leave(turn.done(), own);
  }

  private void tell(List<Store.Waiting> sends) {
    for (var one : sends) Home.of(store).tell(one.to(), one.due());
  }

  private void leave(List<String> done, List<String> own) {
    if (last.isDone()) return;
    if (!done.isEmpty()) leaving.add(new Leaving(last, done));
    if (!own.isEmpty()) leaving.add(new Leaving(last, own));
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
    refused = true;
    LoggerFactory.getLogger(Durable.class).error("{} reads its state again, since its turn {} was not stored", id,
        turn.number(), why);
  }

  private void snapshot() {
    try {
      var bytes = definition.state().orElseThrow().encode(state);
      var body = new Body(Optional.of(bytes), List.of(), ledger.all()).bytes();
      store.snapshot(new Store.Turn(id, life, number, delivery.now(), true, body, List.of(), List.of()));
    } catch (Throwable failure) { // the turns are there
      LoggerFactory.getLogger(Durable.class).warn("{} goes on without a snapshot", id, failure);
    }
  }

  // ---- what a turn asks

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
