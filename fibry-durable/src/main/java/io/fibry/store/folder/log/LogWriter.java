package io.fibry.store.folder.log;

import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.store.spi.WriteInbox;
import io.fibry.text.SafeLogger;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The journal: the thread that writes a log. Only this thread uses the log.
 *
 * <p><b>Commit.</b> The entries that wait when a commit begins become one frame, which is written
 * and synced once. Each entry is then notified that it is stored. Entries that are added during the
 * commit, or do not fit into the frame, wait for the next frame. If the store has a sync interval,
 * entries are notified as soon as they are written.
 *
 * <p><b>Mark.</b> After a while without a commit, the thread appends an empty frame, which proves
 * that the frames before it were on disk.
 *
 * <p><b>Failure.</b> If a frame cannot be written, the log undoes the write, and the entries of the
 * frame are refused. After a failed sync, or if a write cannot be undone, the log is broken: all
 * waiting and later entries are refused.
 *
 * <p><b>Capacity and end.</b> The {@link WriteInbox} bounds the bytes of waiting entries. At the
 * end each entry is either written or refused.
 */
public final class LogWriter {
  /**
   * An entry to be written. Either {@link #onStored} or {@link #onRefused} is called, once. The
   * journal's thread usually calls them, so they must be quick.
   */
  public interface LogEntry {
    ByteBuffer record();

    /**
     * Returns why the entry must not be written, or null if it may be. Called in the order in which
     * entries were added.
     */
    StoreException refusal();

    /**
     * Called when the entry and all earlier entries are on disk. If the store has a sync interval,
     * called when they are written, perhaps before they are synced.
     */
    void onStored(int segment, int offset);

    /**
     * Called when the entry is not stored. If the outcome of the exception is UNKNOWN, the entry
     * may be stored nevertheless.
     */
    void onRefused(StoreException reason);
  }

  private static final int MAX_RECORDS = 8192; // of a frame
  private static final int MAX_BYTES = 8 << 20; // of the records of a frame; a larger record has its own frame
  public static final int MAX_RECORD_BYTES = 16 << 20; // bytes of a record
  public static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(20); // the default quietTime

  private final SegmentLog log;
  private final LongSupplier millis; // the time in milliseconds since 1970
  private final long syncInterval; // nanoseconds between two syncs, or 0 if each commit syncs
  private final long quietTime; // nanoseconds without a commit, after which a mark is written
  private final int maxRecordBytes; // the maximum size of a record
  private final Thread thread = Thread.ofPlatform().daemon().name("fibry-journal").unstarted(this::run);
  private final WriteInbox<LogEntry> inbox;
  private volatile int batchSize; // number of entries that are being written; set by the journal's thread
  // Entries of the next frame; used only by the journal's thread, as are the next three fields.
  private final ArrayDeque<LogEntry> batch = new ArrayDeque<>();
  private long firstUnsynced; // `nanoTime` of the first frame that is not synced, or 0 if all frames are synced
  private boolean isUnmarked; // whether no mark was written after the last commit
  private long lastCommit; // `nanoTime` of the last commit, or of the opening
  private final ConcurrentLinkedQueue<CompletableFuture<Void>> syncRequests = new ConcurrentLinkedQueue<>();
  private volatile boolean hasEnded; // set by the journal's thread; then `syncFuture` fails all waiting requests

  private LogWriter(SegmentLog log, LongSupplier millis, long syncInterval, long quietTime, int maxPendingBytes) {
    this.log = log;
    this.millis = millis;
    this.syncInterval = syncInterval;
    this.quietTime = quietTime;
    this.isUnmarked = log.wasOpenedUnmarked();
    this.lastCommit = System.nanoTime();
    this.inbox = new WriteInbox<>(thread, maxPendingBytes, entry -> entry.record().remaining());
    this.maxRecordBytes =
        (int) Math.min(Math.min(MAX_RECORD_BYTES, maxPendingBytes), log.maxFrameSize() - Frame.size(1, 0));
  }

  /**
   * Opens a journal, and starts its thread.
   *
   * @param quietTime nanoseconds without a commit, after which a mark is written
   * @param maxPendingBytes max bytes of entries that wait to be stored; beyond it, senders wait
   */
  public static LogWriter open(SegmentLog log, LongSupplier millis, long syncInterval, long quietTime,
      int maxPendingBytes) {
    var logWriter = new LogWriter(log, millis, syncInterval, quietTime, maxPendingBytes);
    logWriter.thread.start();
    return logWriter;
  }

  /** Returns the maximum size of a record in bytes. */
  public int maxRecordSize() {
    return maxRecordBytes;
  }

  /** Returns the number of entries that wait or are being written. */
  public int pendingEntries() {
    return inbox.size() + batchSize;
  }

  public boolean isEnded() {
    return inbox.isEnded();
  }

  public void add(LogEntry entry) throws InterruptedException {
    if (!inbox.add(entry)) notifyRefused(entry, new StoreClosedException("the store in " + log + " is closed"));
  }

  /**
   * Writes all entries that were added, marks the log as closed, and waits until the thread has
   * ended.
   */
  public void close() {
    if (Thread.currentThread() == thread)
      throw new IllegalStateException("a store cannot be closed on its journal's thread; close it on another thread");
    inbox.close();
  }

  /**
   * Returns a future that completes when all entries that were reported as stored are on disk. No
   * request is lost when the thread ends: a caller adds its request and then reads {@code
   * hasEnded}. The thread writes {@code hasEnded} and then checks for requests.
   */
  public CompletableFuture<Void> syncFuture() {
    if (syncInterval == 0) return CompletableFuture.completedFuture(null);
    var request = new CompletableFuture<Void>();
    syncRequests.add(request);
    LockSupport.unpark(thread);
    if (hasEnded) failRemainingSyncs();
    return request;
  }

  private void run() {
    try {
      while (!inbox.isClosing()) writeNext();
    } finally {
      inbox.refuseNewEntries(); // no more entries are added from now on
      while (!inbox.isEmpty() || !batch.isEmpty()) write();
      finish();
    }
  }

  private void writeNext() {
    inbox.resume();
    write();
    if (inbox.isEmpty() && inbox.tryIdle()) awaitWork();
  }

  private void write() {
    try {
      Thread.interrupted(); // a pending interrupt would close the file, and end the next sleep at once
      takeBatch();
      if (!batch.isEmpty()) commit();
      syncIfDue();
      markEndIfDue();
      log.prepare();
    } catch (StoreException broken) { // thrown by syncIfDue; commit handles its own failures
      log("entries that were reported as stored may be missing from the disk", broken);
    } catch (Throwable failure) { // most likely an OutOfMemoryError
      tryRefuseBatch(failure);
    }
  }

  private void tryRefuseBatch(Throwable failure) {
    try {
      // The outcome is unknown, because the frame may be in the file.
      refuseBatch(new StoreUnconfirmedException("the journal failed while it wrote", failure));
    } catch (Throwable secondFailure) {
      // entries that were not notified are still in the batch, and are written with the next frame
    }
  }

  private void takeBatch() {
    long bytes = 0;
    for (var entry = inbox.peek(); entry != null && batch.size() < MAX_RECORDS; entry = inbox.peek()) {
      var refusal = entry.refusal();
      if (refusal != null) {
        refuse(inbox.poll(), refusal);
        continue;
      }
      bytes += entry.record().remaining();
      if (!batch.isEmpty() && (bytes > MAX_BYTES || Frame.size(batch.size() + 1, bytes) > log.maxFrameSize())) return;
      batch.add(entry);
      inbox.poll(); // last, so that the entry is still in the inbox if `add` fails for lack of memory
    }
  }

  private void commit() {
    int records = batch.size();
    var event = StoreEvents.beginCommit();
    Frame.FramePosition position;
    try {
      position = append(event);
    } catch (StoreException failure) {
      refuseBatch(failure);
      return;
    }
    int offset = position.offset() + Frame.RECORDS_OFFSET;
    while (!batch.isEmpty()) {
      var entry = batch.removeFirst();
      notifyStored(entry, position.segment(), offset);
      offset = Frame.nextOffset(offset, entry.record());
    }
    // last, because a failure of the event must not look like a failure of the commit
    if (event != null) StoreEvents.endCommit(event, log, Segment.nameOf(position.segment()), records,
        Frame.align(offset - position.offset()));
  }

  private Frame.FramePosition append(Object event) {
    batchSize = batch.size();
    try {
      var position = log.append(batch.stream().map(LogEntry::record).toList(), millis.getAsLong());
      StoreEvents.onWritten(event);
      if (syncInterval == 0) {
        log.sync();
        StoreEvents.onSynced(event);
      } else if (firstUnsynced == 0) firstUnsynced = System.nanoTime();
      isUnmarked = true;
      lastCommit = System.nanoTime();
      return position;
    } finally {
      batchSize = 0;
    }
  }

  private void notifyStored(LogEntry entry, int segment, int offset) {
    inbox.release(entry);
    try {
      entry.onStored(segment, offset);
    } catch (Throwable failure) {
      log("an entry was stored, but its notification failed", failure);
    }
  }

  private void refuseBatch(StoreException failure) {
    while (!batch.isEmpty()) refuse(batch.removeFirst(), failure);
  }

  private void refuse(LogEntry entry, StoreException reason) {
    inbox.release(entry);
    notifyRefused(entry, reason);
  }

  private static void notifyRefused(LogEntry entry, StoreException reason) {
    try {
      entry.onRefused(reason);
    } catch (Throwable failure) {
      log("an entry was refused, but its notification failed", failure);
    }
  }

  private void syncIfDue() {
    int requestCount = syncRequests.size(); // without requests that come during the sync
    boolean isDue = firstUnsynced != 0 && (requestCount > 0 || System.nanoTime() - firstUnsynced >= syncInterval);
    try {
      if (isDue) {
        firstUnsynced = 0;
        log.sync();
      }
    } finally {
      for (; requestCount > 0; requestCount--) completeSync(syncRequests.remove());
    }
  }

  /**
   * Marks the end of a burst of commits, once. A busy journal needs no mark, because its next frame
   * has the same effect.
   */
  private void markEndIfDue() {
    if (!isUnmarked || firstUnsynced != 0 || System.nanoTime() - lastCommit < quietTime) return;
    isUnmarked = false; // even if the write fails: the end of the next burst tries again
    try {
      log.markSynced(millis.getAsLong());
    } catch (StoreException failure) {
      log("all entries that were reported as stored are on disk, but the mark that says so was not written", failure);
    }
  }

  private void completeSync(CompletableFuture<Void> request) {
    if (log.isBroken()) request.completeExceptionally(new StoreClosedException("the store in " + log + " is broken"));
    else request.complete(null);
  }

  /** Fails all waiting requests, because this journal syncs no more frames. */
  private void failRemainingSyncs() {
    for (var request = syncRequests.poll(); request != null; request = syncRequests.poll())
      request.completeExceptionally(new StoreClosedException("the store in " + log + " is closed"));
  }

  private void awaitWork() {
    long maxNanos = firstUnsynced != 0 ? syncInterval - (System.nanoTime() - firstUnsynced)
        : isUnmarked ? quietTime - (System.nanoTime() - lastCommit) : Long.MAX_VALUE;
    if (!log.isPrepared()) maxNanos = Math.min(maxNanos, SegmentPreallocator.RETRY_NANOS);
    LockSupport.parkNanos(this, maxNanos);
  }

  private void finish() {
    try {
      if (firstUnsynced != 0) log.sync();
      log.close(millis.getAsLong());
    } catch (Throwable failure) {
      log("the log could not be synced and marked as closed; the last stored entries may be missing", failure);
    } finally {
      hasEnded = true;
      failRemainingSyncs();
    }
  }

  private static void log(String text, Throwable failure) {
    LoggerCall.run(() -> SafeLogger.of("io.fibry.store.folder.LogWriter").error(text, failure));
  }
}
