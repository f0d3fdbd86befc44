package io.fibry.jdbc;

import io.fibry.jdbc.Database.LostCommitException;
import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.text.Lines;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * One thread that stores what others give it: all that waits is one transaction, in the order in
 * which it was given.
 */
final class BatchWriter {
  private static final int MAX_ENTRIES = 8192;
  private static final int MAX_BYTES = 8 << 20; // but for one entry
  private static final String DISK_FULL_STATE = "53100"; // SQL's word for a disk without room

  private final Database database;
  private final SqlDialect dialect;
  private final String store; // its name
  private final Consumer<WriteBatch> onCommit; // hears of each commit
  private final Semaphore byteBudget; // in bytes
  private final BatchQueue inbox = new BatchQueue();
  private final Thread thread = Thread.ofPlatform().daemon().name("fibry-jdbc").unstarted(this::run);
  private boolean isFailing; // the thread's own: the last commit failed

  /** @param room for entries that wait to be stored, in bytes: senders of more wait */
  BatchWriter(Database database, SqlDialect dialect, String store, int room, Consumer<WriteBatch> onCommit) {
    this.database = database;
    this.dialect = dialect;
    this.store = store;
    this.onCommit = onCommit;
    this.byteBudget = new Semaphore(room, true);
  }

  void start() {
    thread.start();
  }

  boolean isClosed() {
    return inbox.isClosed();
  }

  boolean isOwn(Thread other) {
    return other == thread;
  }

  /** Tells the entry its outcome, now or later. */
  void add(PendingWrite<?> entry) throws InterruptedException {
    // an interrupt matters only to those who wait, and none overtakes them
    if (byteBudget.hasQueuedThreads() || !byteBudget.tryAcquire(entry.size())) byteBudget.acquire(entry.size());
    boolean added = false;
    try {
      added = inbox.add(entry);
    } finally {
      if (!added) refuse(entry, new StoreClosedException(store + " is closed"));
    }
  }

  /** Stores what was added before. */
  void close() {
    if (isOwn(Thread.currentThread()))
      throw new IllegalStateException("a store cannot be closed by what an answer runs; close it on another thread");
    inbox.close();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  private void run() {
    for (var entries = takeBatch(); !entries.isEmpty(); entries = takeBatch()) store(entries);
  }

  private List<PendingWrite<?>> takeBatch() {
    while (true) try {
      return inbox.take(MAX_ENTRIES, MAX_BYTES);
    } catch (OutOfMemoryError later) { // waiting entries stay in the queue
      Thread.onSpinWait();
    }
  }

  private void store(List<PendingWrite<?>> entries) {
    if (entries.stream().allMatch(PendingWrite.WriteBarrier.class::isInstance)) {
      for (var entry : entries) completeEntry(entry, null); // there is no turn to store
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
    for (var entry : entries) completeEntry(entry, batch);
    try {
      onCommit.accept(batch);
    } catch (Throwable later) { // of memory
      log("what follows turns was not told of some; it looks by itself", later);
    }
  }

  private void completeEntry(PendingWrite<?> entry, WriteBatch batch) {
    byteBudget.release(entry.size());
    try {
      entry.completeFrom(batch);
    } catch (Throwable failure) {
      log("an entry was stored, and failed when it was told", failure);
    }
  }

  // ---- failures

  private void fail(List<PendingWrite<?>> entries, Throwable failure) {
    logFailing(failure);
    var why = failure;
    try {
      why = refusal(failure);
    } catch (OutOfMemoryError again) {
      // the failure itself says enough
    }
    for (var entry : entries) refuse(entry, why);
  }

  private StoreException refusal(Throwable failure) {
    if (failure instanceof LostCommitException)
      return new StoreBusyException(store + " lost the connection during a commit: " + Lines.message(failure), failure);
    if (failure instanceof SQLException full && DISK_FULL_STATE.equals(full.getSQLState()))
      return new StoreFullException(store + " has no room; it goes on when there is some", failure);
    return new StoreWriteException(store + " could not write: " + Lines.message(failure), failure);
  }

  private void refuse(PendingWrite<?> entry, Throwable why) {
    byteBudget.release(entry.size());
    try {
      entry.completeExceptionally(why);
    } catch (Throwable failure) {
      log("an entry was refused, and failed when it was told", failure);
    }
  }

  // ---- the log

  private void logFailing(Throwable failure) {
    if (!isFailing) log(store + " does not store; it tries again when there is something to store", failure);
    isFailing = true;
  }

  private void logRecovered() {
    if (!isFailing) return;
    isFailing = false;
    try {
      LoggerFactory.getLogger(JdbcStore.class).info("{} stores again", store);
    } catch (Throwable broken) { // a logger is user code
    }
  }

  private static void log(String what, Throwable failure) {
    try {
      LoggerFactory.getLogger(JdbcStore.class).error(what, failure);
    } catch (Throwable broken) {
      // it cannot be told
    }
  }
}
