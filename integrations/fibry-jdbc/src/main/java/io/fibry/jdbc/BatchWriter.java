package io.fibry.jdbc;

import io.fibry.jdbc.Database.LostCommitException;
import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.PendingWrite;
import io.fibry.text.Lines;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * The thread that writes. It stores all waiting entries in one transaction, in the order in which
 * they were added.
 */
final class BatchWriter {
  /** An entry without content: it is done when all earlier entries were stored or refused. */
  static final class WriteBarrier extends PendingWrite<Void> {
    WriteBarrier() {
      super(0);
    }
  }

  private static final int MAX_ENTRIES = 8192;
  private static final int MAX_BYTES = 8 << 20; // max bytes of a batch, unless it has only one entry
  private static final String DISK_FULL_STATE = "53100"; // SQL state

  private final Database database;
  private final SqlDialect dialect;
  private final String storeName;
  private final Consumer<WriteBatch> onCommit; // called after each commit
  private final Semaphore byteBudget; // one permit per byte
  private final BatchQueue inbox = new BatchQueue();
  private final Thread thread = Thread.ofPlatform().daemon().name("fibry-jdbc").unstarted(this::run);
  private boolean isFailing; // whether the last commit failed; used by the writing thread only

  /** @param maxPendingBytes max bytes of entries that are being stored; further senders wait */
  BatchWriter(Database database, SqlDialect dialect, String storeName, int maxPendingBytes,
      Consumer<WriteBatch> onCommit) {
    this.database = database;
    this.dialect = dialect;
    this.storeName = storeName;
    this.onCommit = onCommit;
    this.byteBudget = new Semaphore(maxPendingBytes, true);
  }

  void start() {
    thread.start();
  }

  boolean isClosed() {
    return inbox.isClosed();
  }

  boolean isRunBy(Thread candidate) {
    return candidate == thread;
  }

  /** Adds an entry, whose future gets the outcome. Waits until the pending bytes permit it. */
  void add(PendingWrite<?> entry) throws InterruptedException {
    // tryAcquire comes first, because acquire throws for an interrupted thread, even if the thread
    // need not wait. While other threads wait, tryAcquire is not called, because it would overtake
    // them.
    if (byteBudget.hasQueuedThreads() || !byteBudget.tryAcquire(entry.size())) byteBudget.acquire(entry.size());
    boolean isAdded = false;
    try {
      isAdded = inbox.add(entry);
    } finally {
      if (!isAdded) refuse(entry, new StoreClosedException(storeName + " is closed"));
    }
  }

  /** Refuses new entries, and waits until all earlier entries are stored or refused. */
  void close() {
    if (isRunBy(Thread.currentThread()))
      throw new IllegalStateException(
          "a store cannot be closed by a callback of its own writes; close it on another thread");
    inbox.close();
    boolean wasInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException interrupt) {
        wasInterrupted = true;
      }
    }
    if (wasInterrupted) Thread.currentThread().interrupt();
  }

  private void run() {
    for (var entries = takeBatch(); !entries.isEmpty(); entries = takeBatch()) store(entries);
  }

  private List<PendingWrite<?>> takeBatch() {
    while (true) try {
      return inbox.take(MAX_ENTRIES, MAX_BYTES);
    } catch (OutOfMemoryError noMemory) { // waiting entries stay in the queue
      Thread.onSpinWait();
    }
  }

  private void store(List<PendingWrite<?>> entries) {
    if (entries.stream().allMatch(WriteBarrier.class::isInstance)) {
      for (var entry : entries) complete(entry, barrier -> barrier.complete(null)); // they store no rows
      return;
    }
    WriteBatch batch;
    try {
      batch = database.commit(dialect, connection -> WriteBatch.of(entries, dialect, connection));
    } catch (Throwable failure) {
      fail(entries, failure);
      return;
    }
    logRecovered();
    for (var entry : entries) complete(entry, batch::complete);
    try {
      onCommit.accept(batch);
    } catch (Throwable listenerFailure) { // such as an OutOfMemoryError
      log("histories were not notified of stored turns; they find these turns when they poll", listenerFailure);
    }
  }

  private void complete(PendingWrite<?> entry, Consumer<PendingWrite<?>> completion) {
    byteBudget.release(entry.size());
    try {
      completion.accept(entry);
    } catch (Throwable failure) {
      log("an entry was stored, but a callback of its future failed", failure);
    }
  }

  // ---- failures

  private void fail(List<PendingWrite<?>> entries, Throwable failure) {
    logFailing(failure);
    var reason = failure;
    try {
      reason = refusal(failure);
    } catch (OutOfMemoryError noMemory) {
      // the failure itself is given to the entries
    }
    for (var entry : entries) refuse(entry, reason);
  }

  private StoreException refusal(Throwable failure) {
    if (failure instanceof LostCommitException)
      return new StoreBusyException(storeName + " lost the connection during a commit: " + Lines.message(failure),
          failure);
    if (failure instanceof SQLException sqlFailure && DISK_FULL_STATE.equals(sqlFailure.getSQLState()))
      return new StoreFullException(storeName + " is out of disk space; it stores again when space is free", failure);
    return new StoreWriteException(storeName + " could not write: " + Lines.message(failure), failure);
  }

  private void refuse(PendingWrite<?> entry, Throwable reason) {
    byteBudget.release(entry.size());
    try {
      entry.completeExceptionally(reason);
    } catch (Throwable failure) {
      log("an entry was refused, and a callback of its future failed", failure);
    }
  }

  // ---- the log

  private void logFailing(Throwable failure) {
    if (!isFailing) log(storeName + " does not store; it tries again when there is something to store", failure);
    isFailing = true;
  }

  private void logRecovered() {
    if (!isFailing) return;
    isFailing = false;
    try {
      LoggerFactory.getLogger(JdbcStore.class).info("{} stores again", storeName);
    } catch (Throwable loggerFailure) { // a logger is user code
    }
  }

  private static void log(String text, Throwable failure) {
    try {
      LoggerFactory.getLogger(JdbcStore.class).error(text, failure);
    } catch (Throwable loggerFailure) {
      // there is no other log
    }
  }
}
