package io.fibry.cluster;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** A store as one of several nodes sees it: the end of the node is not that of the store. */
final class NodeStore implements Store {
  private final Store store;
  private volatile boolean closed;

  NodeStore(Store store) {
    this.store = store;
  }

  private Store open() {
    if (closed) throw closed();
    return store;
  }

  private StoreClosedException closed() {
    return new StoreClosedException(this + " is closed");
  }

  @Override
  public LoadedActor load(ActorId actor) {
    return open().load(actor);
  }

  @Override
  public List<StoredTurn> turns(ActorId actor) {
    return open().turns(actor);
  }

  @Override
  public long beginLife(ActorId actor, long last) {
    return open().beginLife(actor, last);
  }

  @Override
  public void endLife(ActorId actor, long life) {
    store.endLife(actor, life);
  }

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return closed ? CompletableFuture.failedFuture(closed()) : store.append(turn);
  }

  @Override
  public CompletionStage<Void> end(Turn turn) {
    return closed ? CompletableFuture.failedFuture(closed()) : store.end(turn);
  }

  @Override
  public boolean preservesGlobalOrder() {
    return store.preservesGlobalOrder();
  }

  @Override
  public void snapshot(Turn turn) {
    if (!closed) store.snapshot(turn);
  }

  @Override
  public CompletionStage<Boolean> enqueue(PendingMessage message, int max) {
    return closed ? CompletableFuture.failedFuture(closed()) : store.enqueue(message, max);
  }

  @Override
  public List<PendingMessage> pending(ActorId actor, Instant until, int max) {
    return open().pending(actor, until, max);
  }

  @Override
  public Optional<Instant> dueTime(ActorId actor, String id) {
    return open().dueTime(actor, id);
  }

  @Override
  public Optional<Instant> nextDueTime(ActorId actor, Instant after) {
    return open().nextDueTime(actor, after);
  }

  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    open().forEachPending(kind, reader);
  }

  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    open().forEachActor(reader);
  }

  @Override
  public History history(String kind, String after) {
    return open().history(kind, after);
  }

  @Override
  public void setRetention(String kind, Duration age) {
    open().setRetention(kind, age);
  }

  @Override
  public InstantSource clock() {
    return store.clock();
  }

  @Override
  public void close() {
    closed = true;
  }

  @Override
  public String toString() {
    return store.toString();
  }
}
