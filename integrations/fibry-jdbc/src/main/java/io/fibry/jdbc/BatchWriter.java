package io.fibry.jdbc;

import io.fibry.jdbc.Database.LostCommitException;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.PendingWrite;
import io.fibry.store.spi.WriteInbox;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The thread that writes to the database. It stores all waiting entries in one transaction, in the
 * order in which they were added.
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
  private final Thread thread = Thread.ofPlatform().daemon().name("fibry-jdbc").unstarted(this::run);
  private final WriteInbox<PendingWrite<?>> inbox;
  // The entries of the next commit that were neither completed nor refused. The queue never grows,
  // so that no entry is lost if memory is short. Only the writing thread uses this field and the
  // next.
  private final ArrayDeque<PendingWrite<?>> batch = new ArrayDeque<>(MAX_ENTRIES);
  private boolean isFailing; // whether the last commit failed

  /** @param maxPendingBytes max bytes of entries that are being stored; further senders wait */
  BatchWriter(Database database, SqlDialect dialect, String storeName, int maxPendingBytes,
      Consumer<WriteBatch> onCommit) {
    this.database = database;
    this.dialect = dialect;
    this.storeName = storeName;
    this.onCommit = onCommit;
    this.inbox = new WriteInbox<>(thread, maxPendingBytes, PendingWrite::size);
  }

  void start() {
    thread.start();
  }

  boolean isClosed() {
    return inbox.isClosing();
  }

  /** Returns whether all earlier entries are stored or refused. */
  boolean isSettled() {
    return inbox.isSettled();
  }

  boolean isRunBy(Thread candidate) {
    return candidate == thread;
  }

  /** Adds an entry, whose future gets the outcome. Waits until the pending bytes permit it. */
  void add(PendingWrite<?> entry) throws InterruptedException {
    if (inbox.isClosing() || !inbox.add(entry))
      notifyRefused(entry, new StoreClosedException(storeName + " is closed"));
  }

  /** Refuses new entries, and waits until all earlier entries are stored or refused. */
  void close() {
    if (isRunBy(Thread.currentThread()))
      throw new IllegalStateException(
          "a store cannot be closed by a callback of its own writes; close it on another thread");
    inbox.close();
  }

  private void run() {
    try {
      while (!inbox.isClosing()) {
        storeWaiting();
        if (inbox.tryIdle()) LockSupport.park(this);
        inbox.resume();
      }
    } finally { // also after an error, so that no sender waits for a thread that has ended
      inbox.refuseNewEntries();
      while (!inbox.isEmpty()) storeWaiting();
    }
  }

  private void storeWaiting() {
    Thread.interrupted(); // a callback may have set the interrupt, which would end the next sleep at once
    long bytes = 0;
    for (var entry = inbox.peek(); entry != null && batch.size() < MAX_ENTRIES; entry = inbox.peek()) {
      bytes += entry.size();
      if (bytes > MAX_BYTES && !batch.isEmpty()) break;
      batch.add(inbox.poll());
    }
    try {
      if (!batch.isEmpty()) storeBatch();
    } catch (Throwable failure) { // the remaining entries may be stored, although they are refused
      refuseAll(failure);
    } finally {
      batch.clear();
    }
  }

  private void storeBatch() {
    if (batch.stream().allMatch(WriteBarrier.class::isInstance)) {
      completeAll(null); // barriers store no rows
      return;
    }
    WriteBatch stored;
    try {
      stored = database.commit(dialect, transaction -> WriteBatch.store(batch, transaction));
    } catch (Throwable failure) {
      failAll(failure);
      return;
    }
    logRecovered();
    completeAll(stored);
    try {
      onCommit.accept(stored);
    } catch (Throwable listenerFailure) { // such as an OutOfMemoryError
      log("histories were not notified of stored turns; they find these turns when they poll", listenerFailure);
    }
  }

  /** @param stored null if all entries are barriers */
  private void completeAll(WriteBatch stored) {
    for (var entry = batch.poll(); entry != null; entry = batch.poll()) complete(entry, stored);
  }

  private void complete(PendingWrite<?> entry, WriteBatch stored) {
    inbox.release(entry);
    try {
      if (stored == null) entry.complete(null);
      else stored.complete(entry);
    } catch (Throwable failure) {
      log("an entry was stored, but a callback of its future failed", failure);
      if (!entry.isDone()) notifyRefused(entry, failure); // the lookup of the outcome failed, not a callback
    }
  }

  // ---- failures

  private void failAll(Throwable failure) {
    logFailing(failure);
    var reason = failure;
    try {
      reason = refusal(failure);
    } catch (Throwable noMemory) {
      // the failure itself is given to the entries
    }
    refuseAll(reason);
  }

  private StoreException refusal(Throwable failure) {
    if (failure instanceof LostCommitException)
      return new StoreUnconfirmedException(
          storeName + " lost the connection during a commit: " + Lines.message(failure),
          failure);
    if (failure instanceof SQLException sqlFailure && DISK_FULL_STATE.equals(sqlFailure.getSQLState()))
      return new StoreFullException(storeName + " is out of disk space; it stores again when space is free", failure);
    return new StoreWriteException(storeName + " could not write: " + Lines.message(failure), failure);
  }

  private void refuseAll(Throwable reason) {
    for (var entry = batch.poll(); entry != null; entry = batch.poll()) {
      inbox.release(entry);
      notifyRefused(entry, reason);
    }
  }

  private static void notifyRefused(PendingWrite<?> entry, Throwable reason) {
    while (!entry.isDone()) try { // if it is done, only a callback failed
      entry.completeExceptionally(reason);
    } catch (Throwable failure) {
      log("an entry was refused, and a callback of its future failed", failure);
    }
  }

  // ---- the log

  private void logFailing(Throwable failure) {
    if (!isFailing) log(storeName + " cannot store; it tries again with the next turns and messages", failure);
    isFailing = true;
  }

  private void logRecovered() {
    if (!isFailing) return;
    isFailing = false;
    try {
      SafeLogger.of(JdbcStore.class).info("{} stores again", storeName);
    } catch (Throwable loggerFailure) { // a logger is user code
    }
  }

  private static void log(String text, Throwable failure) {
    try {
      SafeLogger.of(JdbcStore.class).error(text, failure);
    } catch (Throwable loggerFailure) {
      // there is no other log
    }
  }
}
