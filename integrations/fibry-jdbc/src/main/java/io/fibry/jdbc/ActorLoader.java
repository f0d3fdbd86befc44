package io.fibry.jdbc;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Loads actors on the threads that read. Loads that wait for a thread share one transaction, so a
 * thousand new actors need no thousand commits. Thread-safe.
 *
 * <p>Each load adds itself to a queue, and then starts a task. A task takes the first loads of the
 * queue, as many as fit into a transaction. A task that finds no load does nothing. No load stays
 * in the queue: each task takes at least one load if any waits, and there are never fewer tasks to
 * come than waiting loads.
 *
 * <p>If the shared transaction fails, each of its actors is loaded by a transaction of its own. The
 * shared transaction waits for a locked row for a tenth of a second, and on H2 for two seconds.
 * Neither a locked row nor damaged turns fail another load. If the outcome of the commit is
 * unknown, an actor may have begun two lives. This does no harm, because only the later life can
 * store turns.
 */
final class ActorLoader {
  static final int MAX_LOADS = 32; // of a transaction

  /** The future of an actor. Cancelled if its caller does not wait any more. */
  private static final class PendingLoad extends CompletableFuture<StoreBackend.LoadedActor> {
    private final Store.ActorId actor;

    PendingLoad(Store.ActorId actor) {
      this.actor = actor;
    }
  }

  private final Database database;
  private final SqlDialect dialect;
  private final ReaderThreads readerPool;
  private final ArrayDeque<PendingLoad> waiting = new ArrayDeque<>(); // guarded by this object's monitor

  ActorLoader(Database database, SqlDialect dialect, ReaderThreads readerPool) {
    this.database = database;
    this.dialect = dialect;
    this.readerPool = readerPool;
  }

  /** Begins a life of an actor, and reads the actor. Waits for the result. */
  StoreBackend.LoadedActor load(Store.ActorId actor) throws InterruptedException {
    var load = new PendingLoad(actor);
    synchronized (this) {
      waiting.add(load);
    }
    return readerPool.read(actor, load, this::loadWaiting);
  }

  /** Takes the first loads, up to the second load of an actor: each load begins a life. */
  private synchronized List<PendingLoad> takeWaiting() {
    var batch = new LinkedHashMap<Store.ActorId, PendingLoad>(2 * MAX_LOADS);
    for (var load = waiting.peek(); load != null && batch.size() < MAX_LOADS; load = waiting.peek()) {
      if (batch.containsKey(load.actor)) break;
      waiting.remove();
      if (!load.isDone()) batch.put(load.actor, load);
    }
    return List.copyOf(batch.values());
  }

  private void loadWaiting() {
    var batch = takeWaiting();
    if (batch.size() == 1) loadAlone(batch.getFirst());
    else if (!batch.isEmpty()) loadTogether(batch);
  }

  private void loadLater(PendingLoad load) {
    try {
      if (!readerPool.execute(() -> loadAlone(load))) load.completeExceptionally(readerPool.closedException());
    } catch (Throwable failure) { // such as a thread that the system refuses
      load.completeExceptionally(failure);
    }
  }

  private void loadTogether(List<PendingLoad> batch) {
    try {
      var actors = batch.stream().map(load -> load.actor).toList();
      var loaded = database.commitOrFail(dialect, transaction -> StoreTransactions.load(transaction, actors));
      for (int i = 0; i < loaded.size(); i++) batch.get(i).complete(loaded.get(i));
    } catch (Throwable failure) { // each load reports its own failure
      batch.forEach(this::loadLater);
    }
  }

  private void loadAlone(PendingLoad load) {
    if (load.isDone()) return; // its caller does not wait any more
    try {
      load.complete(database.commit(dialect,
          transaction -> StoreTransactions.load(transaction, List.of(load.actor))).getFirst());
    } catch (Throwable failure) {
      load.completeExceptionally(failure);
    }
  }
}
