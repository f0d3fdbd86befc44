package io.fibry.durable;

import io.fibry.ActorContext;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.StoreWriteException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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

  private final Definition<S, E, M> definition;
  private final Store store;
  private final Store.Id id;
  private final Semaphore ahead; // given back by the store's thread
  private S state;
  private long life;
  private long number; // of the last turn
  private CompletableFuture<Void> last = STORED; // done when the last turn is stored, or refused
  private CompletableFuture<Void> told = STORED; // done when all answers have left
  private boolean doubtful; // a handler that threw may have changed the state
  private volatile boolean refused; // a turn of this life was not stored; written by the store's thread

  Live(Definition<S, E, M> definition, Store store, Store.Id id) throws Exception {
    this.definition = definition;
    this.store = store;
    this.id = id;
    this.ahead = new Semaphore(definition.kind().ahead());
    load();
  }

  Store.Id id() {
    return id;
  }

  // ---- reading

  private void load() throws Exception {
    var loaded = store.load(id);
    S read = definition.initial().call();
    long turn = loaded.last() - loaded.bodies().size();
    for (var body : loaded.bodies()) read = after(read, body, ++turn);
    state = read;
    life = loaded.life();
    number = loaded.last();
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

  // ---- turns

  void handle(M message, ActorContext<M> core) throws Exception {
    if (doubtful || refused) load();
    var turn = new Turn<>(this, state, message, core);
    try {
      S next = definition.run().handle(state, message, turn);
      commit(turn, Objects.requireNonNull(next, () -> definition + " answered null as its next state"));
    } catch (Throwable failure) {
      doubtful = !Values.isValue(state);
      turn.fail(last, failure);
      throw failure;
    } finally {
      var left = turn.leave(last);
      if (!left.isDone()) told = told.isDone() ? left : CompletableFuture.allOf(told, left);
    }
  }

  private void commit(Turn<S, E, M> turn, S next) throws Exception {
    var body = written(turn, next);
    if (body.isEmpty()) return;
    boolean whole = turn.ended() || definition.events().isEmpty();
    S after = turn.ended() ? definition.initial().call() : next;
    last = append(new Store.Turn(id, life, number + 1, Instant.now(), whole, body.get().bytes()));
    number++;
    state = after;
    if (!whole && definition.state().isPresent() && number % definition.kind().snapshotEvery() == 0) snapshot();
  }

  /** Empty: nothing. */
  private Optional<Body> written(Turn<S, E, M> turn, S next) {
    if (turn.ended()) return Optional.of(Body.NOTHING);
    if (definition.events().isEmpty()) return next == state ? Optional.empty() : Optional.of(bodyOf(next));
    return turn.events().isEmpty() ? Optional.empty() : Optional.of(new Body(Optional.empty(), turn.events()));
  }

  private Body bodyOf(S one) {
    return new Body(Optional.of(definition.state().orElseThrow().encode(one)), List.of());
  }

  /** Where it throws, nothing is stored. A refusal is noted here before an asker is told. */
  private CompletableFuture<Void> append(Store.Turn turn) {
    try {
      if (!ahead.tryAcquire()) ahead.acquire(); // an interrupt matters only while it waits
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(id + " was interrupted while it waited for earlier turns to be stored");
    }
    try {
      return store.append(turn).toCompletableFuture().whenComplete((none, failure) -> {
        ahead.release();
        if (failure != null) refuse(turn, cause(failure));
      });
    } catch (Throwable refusal) {
      ahead.release();
      refused = true; // the store may have it: the state is read again
      throw refusal;
    }
  }

  private void refuse(Store.Turn turn, StoreException why) {
    if (refused || turn.life() != life) return;
    refused = true;
    LoggerFactory.getLogger(Durable.class).error("{} reads its state again, since its turn {} was not stored", id,
        turn.number(), why);
  }

  private void snapshot() {
    try {
      store.snapshot(new Store.Turn(id, life, number, Instant.now(), true, bodyOf(state).bytes()));
    } catch (Throwable failure) { // the turns are there
      LoggerFactory.getLogger(Durable.class).warn("{} goes on without a snapshot", id, failure);
    }
  }

  NotStoredException notStored(Object request, Throwable failure) {
    return new NotStoredException(id.toString(), request, cause(failure));
  }

  private static StoreException cause(Throwable failure) {
    var cause = failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
    return cause instanceof StoreException known ? known : new StoreWriteException("the store failed", cause);
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
