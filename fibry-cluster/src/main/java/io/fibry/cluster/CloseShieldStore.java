package io.fibry.cluster;

import io.fibry.store.StoreClosedException;
import io.fibry.store.spi.StoreBackend;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A store that several nodes share, as one node sees it. Closing it does not close the shared
 * store.
 */
final class CloseShieldStore implements StoreBackend {
  private final StoreBackend store;
  private volatile boolean isClosed;

  CloseShieldStore(StoreBackend store) {
    this.store = store;
  }

  private StoreBackend openStore() {
    if (isClosed) throw closedException();
    return store;
  }

  private StoreClosedException closedException() {
    return new StoreClosedException(this + " is closed");
  }

  @Override
  public LoadedActor load(ActorId actor) {
    return openStore().load(actor);
  }

  @Override
  public List<StoredTurn> turns(ActorId actor) {
    return openStore().turns(actor);
  }

  @Override
  public long beginLife(ActorId actor, long lastTurn) {
    return openStore().beginLife(actor, lastTurn);
  }

  @Override
  public void endLife(ActorId actor, long life) {
    store.endLife(actor, life);
  }

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return isClosed ? CompletableFuture.failedFuture(closedException()) : store.append(turn);
  }

  @Override
  public CompletionStage<Void> end(Turn turn) {
    return isClosed ? CompletableFuture.failedFuture(closedException()) : store.end(turn);
  }

  @Override
  public boolean preservesGlobalOrder() {
    return store.preservesGlobalOrder();
  }

  @Override
  public void snapshot(Turn turn) {
    if (!isClosed) store.snapshot(turn);
  }

  @Override
  public CompletionStage<Boolean> enqueue(PendingMessage message, int maxWaiting) {
    return isClosed ? CompletableFuture.failedFuture(closedException()) : store.enqueue(message, maxWaiting);
  }

  @Override
  public List<PendingMessage> pending(ActorId actor, Instant dueUntil, int maxMessages) {
    return openStore().pending(actor, dueUntil, maxMessages);
  }

  @Override
  public Optional<Instant> dueTime(ActorId actor, String id) {
    return openStore().dueTime(actor, id);
  }

  @Override
  public Optional<Instant> nextDueTime(ActorId actor, Instant afterTime) {
    return openStore().nextDueTime(actor, afterTime);
  }

  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    openStore().forEachPending(kind, reader);
  }

  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    openStore().forEachActor(reader);
  }

  @Override
  public History history(String kind, String afterOffset) {
    return openStore().history(kind, afterOffset);
  }

  @Override
  public void setRetention(String kind, Duration age) {
    openStore().setRetention(kind, age);
  }

  @Override
  public InstantSource clock() {
    return store.clock();
  }

  @Override
  public void close() {
    isClosed = true;
  }

  @Override
  public String toString() {
    return store.toString();
  }
}
