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
final class SharedStore implements Store {
  private final Store store;
  private volatile boolean closed;

  SharedStore(Store store) {
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
  public Loaded load(Id actor) {
    return open().load(actor);
  }

  @Override
  public List<Past> turns(Id actor) {
    return open().turns(actor);
  }

  @Override
  public long begin(Id actor, long last) {
    return open().begin(actor, last);
  }

  @Override
  public void leave(Id actor, long life) {
    store.leave(actor, life);
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
  public boolean keepsOrderOfActors() {
    return store.keepsOrderOfActors();
  }

  @Override
  public void snapshot(Turn turn) {
    if (!closed) store.snapshot(turn);
  }

  @Override
  public CompletionStage<Boolean> accept(Waiting message, int most) {
    return closed ? CompletableFuture.failedFuture(closed()) : store.accept(message, most);
  }

  @Override
  public List<Waiting> waiting(Id actor, Instant until, int most) {
    return open().waiting(actor, until, most);
  }

  @Override
  public Optional<Instant> due(Id actor, String id) {
    return open().due(actor, id);
  }

  @Override
  public Optional<Instant> next(Id actor, Instant after) {
    return open().next(actor, after);
  }

  @Override
  public void waiting(String kind, BiConsumer<Id, Instant> reader) {
    open().waiting(kind, reader);
  }

  @Override
  public void actors(Consumer<Id> reader) {
    open().actors(reader);
  }

  @Override
  public History history(String kind, String after) {
    return open().history(kind, after);
  }

  @Override
  public void forget(String kind, Duration age) {
    open().forget(kind, age);
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
