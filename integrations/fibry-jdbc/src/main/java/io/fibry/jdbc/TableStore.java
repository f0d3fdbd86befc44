package io.fibry.jdbc;

import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.PendingWrite;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.text.Lines;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * The implementation of {@link JdbcStore}: one thread writes, and several threads read. It keeps no
 * state of actors in memory: an actor's life and last turn number are in the tables only.
 */
final class TableStore extends JdbcStore implements StoreBackend {
  private static final int PAGE_SIZE = 1_000;

  private final String name;
  private final Options options;
  private final Database database;
  private final SqlDialect dialect;
  private final BatchWriter batchWriter;
  private final ReaderThreads readerPool;
  private final ActorLoader actorLoader;
  private final TableHistoryCleaner historyCleaner;
  private final Set<TableHistory> histories = ConcurrentHashMap.newKeySet(); // open histories

  private TableStore(String name, Options options, Database database, SqlDialect dialect) {
    this.name = name;
    this.options = options;
    this.database = database;
    this.dialect = dialect;
    this.readerPool = new ReaderThreads(name, options.maxReaders(), database.limitMillis());
    this.actorLoader = new ActorLoader(database, dialect, readerPool);
    this.historyCleaner = new TableHistoryCleaner(name, options.clock(), database, dialect, readerPool);
    this.batchWriter = new BatchWriter(database, dialect, name, options.maxPendingBytes(), this::onCommit);
  }

  static TableStore open(DataSource source, Options options) {
    var database = new Database(source, (int) options.statementLimit().toMillis());
    String name = "the store in a database";
    try {
      name = database.read(connection -> "the store in " + JdbcUrls.address(connection.getMetaData().getURL()));
      var store = new TableStore(name, options, database, StoreSchema.createOrCheck(database, name));
      store.batchWriter.start();
      return store;
    } catch (SQLException failure) {
      throw new StoreReadException(name + " cannot be opened: " + Lines.message(failure), failure);
    }
  }

  // ---- reading

  @Override
  public LoadedActor load(ActorId actor) {
    await(actor);
    ViewOffset.kindReadBy(actor).ifPresent(historyCleaner::onViewMoved); // an earlier process may have left turns
    checkReadable();
    try {
      return actorLoader.load(actor);
    } catch (InterruptedException interrupt) {
      throw interruptedRead(actor);
    }
  }

  @Override
  public List<StoredTurn> turns(ActorId actor) {
    return select(actor, connection -> StoreTransactions.turns(connection, dialect, actor));
  }

  @Override
  public long beginLife(ActorId actor, long lastTurn) {
    await(actor);
    return read(actor,
        () -> database.commit(dialect,
            transaction -> StoreTransactions.beginLife(transaction, actor, lastTurn)));
  }

  /** Waits until all entries that were added before, of any actor, are stored or refused. */
  private void await(ActorId actor) {
    if (batchWriter.isSettled()) return; // no entry is pending, so the writing thread need not be woken
    var barrier = new BatchWriter.WriteBarrier();
    try {
      batchWriter.add(barrier);
      barrier.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while earlier turns of " + actor + " were stored in " + this);
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof StoreClosedException closed) throw closed;
    }
  }

  private <T> T select(Object subject, Database.DatabaseWork<T> work) {
    return read(subject, () -> database.read(work));
  }

  private <T> T read(Object subject, Callable<T> operation) {
    try {
      return readerPool.read(subject, checked(operation));
    } catch (InterruptedException interrupt) {
      throw interruptedRead(subject);
    }
  }

  private CancellationException interruptedRead(Object subject) {
    Thread.currentThread().interrupt();
    return new CancellationException("interrupted while " + subject + " was read from " + this);
  }

  private <T> Callable<T> checked(Callable<T> operation) {
    checkReadable();
    return operation;
  }

  /** Throws if this thread writes for the store, or the store is closed. */
  private void checkReadable() {
    if (batchWriter.isRunBy(Thread.currentThread()))
      throw new IllegalStateException(
          "a database cannot be read by a callback of its own writes; read on another thread");
    if (batchWriter.isClosed()) throw readerPool.closedException();
  }

  // ---- pending messages

  @Override
  public List<PendingMessage> pending(ActorId actor, Instant until, int maxMessages) {
    return select(actor, connection -> StoreTransactions.pending(connection, dialect, actor, until, maxMessages));
  }

  @Override
  public Optional<Instant> dueTime(ActorId actor, String id) {
    return select(actor, connection -> StoreTransactions.dueTime(connection, dialect, actor, id));
  }

  @Override
  public Optional<Instant> nextDueTime(ActorId actor, Instant after) {
    return select(actor, connection -> StoreTransactions.nextDueTime(connection, dialect, actor, after));
  }

  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    var last = new StoreTransactions.DueMessage(new ActorId(kind, ""), "", Instant.EPOCH);
    List<StoreTransactions.DueMessage> page;
    do {
      var previous = last;
      page = select("the pending messages of kind '" + kind + "'",
          connection -> StoreTransactions.pending(connection, dialect, kind, previous, PAGE_SIZE));
      for (var due : page) reader.accept(due.actor(), due.dueTime());
      if (!page.isEmpty()) last = page.getLast();
    } while (page.size() == PAGE_SIZE);
  }

  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    var last = new ActorId("", "");
    List<ActorId> page;
    do {
      var previous = last;
      page = select("all actors", connection -> StoreTransactions.actors(connection, dialect, previous, PAGE_SIZE));
      page.forEach(reader);
      if (!page.isEmpty()) last = page.getLast();
    } while (page.size() == PAGE_SIZE);
  }

  @Override
  public InstantSource clock() {
    return options.clock();
  }

  // ---- history

  @Override
  public History history(String kind, String afterOffset) {
    if (batchWriter.isClosed()) throw readerPool.closedException();
    var history =
        new TableHistory(this, kind, TableOffset.of(afterOffset, kind), histories, options.pollInterval());
    histories.add(history);
    return history;
  }

  /**
   * Reads the turns after an offset. First checks, on the same connection, that the turn at the
   * offset was not lost. After a failover to a replica that was behind, the numbers of lost
   * transactions are used again. New turns could then be stored before the offset, and would be
   * skipped. The first page of a history is checked, too: a view may have read a turn before the
   * failover, and stored the offset after it.
   */
  List<StoredTurn> history(String kind, TableOffset offset) throws InterruptedException {
    return readerPool.read("the history of kind '" + kind + "'", checked(() -> database.read(connection -> {
      if (StoreTransactions.isLost(connection, dialect, kind, offset)) throw new StoreDamagedException(this
          + " has lost turns that the history of kind '" + kind + "' has shown, up to position " + offset.position()
          + ": it is in an earlier state, as after a failover to a copy that was behind. Let views begin again");
      return StoreTransactions.history(connection, dialect, kind, offset.position());
    })));
  }

  /**
   * Throws if turns were copied from another database cluster. The transaction numbers of these
   * turns do not give their order here.
   */
  void checkPositions(String kind) throws InterruptedException {
    if (readerPool.read("the history of kind '" + kind + "'",
        checked(
            () -> database.read(connection -> StoreTransactions.hasTurnsOfOtherDatabase(connection, dialect, kind)))))
      throw new StoreDamagedException(this + " has turns of kind '" + kind
          + "' from another cluster, so their order in the history is unknown: run \"update fibry_turn set tx = '0'\""
          + " while no store is open, and let views begin again");
  }

  @Override
  public void setRetention(String kind, Duration age) {
    historyCleaner.setRetention(kind, age);
  }

  /** Wakes histories, and starts checks for turns to delete. Called by the writing thread. */
  private void onCommit(WriteBatch batch) {
    if (batch.hasTurns()) histories.forEach(TableHistory::wake);
    batch.kindsWithSnapshots().forEach(historyCleaner::onSnapshotStored);
    batch.kindsWithMovedViews().forEach(historyCleaner::onViewMoved);
    historyCleaner.retryScans();
  }

  // ---- writing

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return store(turn, false);
  }

  @Override
  public CompletionStage<Void> end(Turn turn) {
    return store(turn, true);
  }

  private CompletionStage<Void> store(Turn turn, boolean isEnd) {
    checkSize("a turn of ", turn.actor(), turn.body());
    for (var message : turn.outbox()) checkSize("a message for ", message.to(), message.body());
    return add(new PendingWrite.TurnWrite(turn, isEnd), turn.actor());
  }

  @Override
  public void snapshot(Turn turn) {
    checkSize("a snapshot of ", turn.actor(), turn.body());
    add(new PendingWrite.SnapshotWrite(turn), turn.actor());
  }

  @Override
  public CompletionStage<Boolean> enqueue(PendingMessage message, int maxPending) {
    checkSize("a message for ", message.to(), message.body());
    return add(new PendingWrite.MessageWrite(message, maxPending), message.to());
  }

  private void checkSize(String description, ActorId actor, byte[] body) {
    if (body.length > dialect.maxBodyBytes()) throw new IllegalArgumentException(
        description + actor + " takes " + body.length + " bytes; " + this + " takes at most "
            + dialect.maxBodyBytes());
  }

  private <T> PendingWrite<T> add(PendingWrite<T> write, ActorId actor) {
    if (write.size() > options.maxPendingBytes())
      throw new IllegalArgumentException("a turn of " + actor + ", or a message for it, takes " + write.size()
          + " bytes; " + this + " permits " + options.maxPendingBytes() + ", as its option maxPendingBytes says");
    try {
      batchWriter.add(write);
      return write;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while a turn of " + actor + ", or a message for it, waited for capacity in " + this);
    }
  }

  // ---- closing

  @Override
  public void close() {
    batchWriter.close();
    histories.forEach(TableHistory::wake);
    readerPool.close();
  }

  @Override
  public String toString() {
    return name;
  }
}
