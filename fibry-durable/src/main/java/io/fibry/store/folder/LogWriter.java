package io.fibry.store.folder;

import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.recorder.StoreEvents;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.LoggerFactory;

/**
 * The thread that writes a log. Only this thread uses the log.
 *
 * <p><b>Commit.</b> All entries that wait when a commit begins become one frame, which is written
 * and forced once; entries that come meanwhile wait for the next frame. Then each entry is told
 * that it is on disk. With pauses between forces, entries are told when they are written.
 *
 * <p><b>Room.</b> A semaphore bounds the bytes of waiting entries. A sender takes room before it
 * adds its entry to the {@link JournalQueue}, so it waits if the disk is slow.
 *
 * <p><b>Mark.</b> After a while without a commit, the thread appends an empty frame, which proves
 * that the frames before it were on disk.
 *
 * <p><b>Failure.</b> A frame that cannot be written is undone by the log, and its entries are
 * refused. After a failed force, or a frame that cannot be undone, the log is broken: all waiting
 * and later entries are refused.
 *
 * <p><b>End.</b> No entry is lost: a sender adds an entry and then reads whether the inbox has
 * ended; the thread ends the inbox and then takes the rest.
 */
final class LogWriter {
  /**
   * An entry to be written. It is told its fate once, mostly by the journal's thread: be quick.
   */
  interface LogEntry {
    ByteBuffer record();

    /**
     * Returns null if the entry may be written. Asked in the order in which entries were added.
     */
    StoreException refusal();

    /** It is on disk, with all that was added before; or soon will be, where forces have pauses. */
    void onStored(int segment, int offset);

    /** It is not on disk, unless the exception says that nobody knows. */
    void onRefused(StoreException why);
  }

  private static final int MAX_RECORDS = 8192;
  private static final int MAX_BYTES = 8 << 20; // but for one record
  static final int MAX_RECORD = 16 << 20;
  static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final SegmentLog log;
  private final LongSupplier millis;
  private final long syncInterval; // between two forces, in nanoseconds, or 0
  private final long quietTime; // after the last commit of a burst, until it is marked, in nanoseconds
  private final Semaphore byteBudget; // in bytes
  private final int maxRecord;
  private final JournalQueue<LogEntry> inbox = new JournalQueue<>();
  private final Thread thread = Thread.ofPlatform().daemon().name("fibry-journal").unstarted(this::run);
  private volatile int batchBytes; // the size of the batch; written by the thread
  private final ArrayDeque<LogEntry> batch = new ArrayDeque<>(); // the thread's own, as the next one
  private long firstUnsynced; // the time of the first frame that is not forced, or 0 if all are
  private boolean isUnmarked; // no mark says yet that the last commit is on disk
  private long lastCommit; // the time of the last commit, or of the opening
  private final ConcurrentLinkedQueue<CompletableFuture<Void>> requestedSyncs = new ConcurrentLinkedQueue<>(); // forces
  private volatile boolean hasEnded; // written by the thread; then those who want a force see to it

  private LogWriter(SegmentLog log, LongSupplier millis, long syncInterval, long quietTime, int room) {
    this.log = log;
    this.millis = millis;
    this.syncInterval = syncInterval;
    this.quietTime = quietTime;
    this.isUnmarked = log.isOpenedUnmarked();
    this.lastCommit = System.nanoTime();
    this.byteBudget = new Semaphore(room, true);
    this.maxRecord = (int) Math.min(Math.min(MAX_RECORD, room), log.maxFrameSize() - Frame.size(1, 0));
  }

  /**
   * @param quietTime nanoseconds without a commit, after which a mark says that the last one is on disk
   * @param room for entries that wait to be stored, in bytes: senders of more wait
   */
  static LogWriter open(SegmentLog log, LongSupplier millis, long syncInterval, long quietTime, int room) {
    var journal = new LogWriter(log, millis, syncInterval, quietTime, room);
    journal.thread.start();
    return journal;
  }

  /** How many bytes a record may have. */
  int maxRecordSize() {
    return maxRecord;
  }

  /** How many entries wait, or are being written. */
  int pendingEntries() {
    return inbox.size() + batchBytes;
  }

  boolean isEnded() {
    return inbox.isEnded();
  }

  void add(LogEntry entry) throws InterruptedException {
    int size = entry.record().remaining();
    // an interrupt matters only to those who wait, and none overtakes them
    if (byteBudget.hasQueuedThreads() || !byteBudget.tryAcquire(size)) byteBudget.acquire(size);
    var next = inbox.add(entry);
    if (next == JournalQueue.SenderAction.WAKE) LockSupport.unpark(thread);
    if (next == JournalQueue.SenderAction.REFUSE)
      refuse(entry, new StoreClosedException("the store in " + log + " is closed"));
  }

  /** Writes what was added before, and marks the end. */
  void close() {
    if (Thread.currentThread() == thread)
      throw new IllegalStateException("a store cannot be closed by what an answer runs; close it on another thread");
    inbox.close();
    LockSupport.unpark(thread);
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

  /**
   * Done when all that was told as stored is on disk. No request is lost at the end: it is added
   * and then {@code hasEnded} is read; the thread writes {@code hasEnded} and then looks for added
   * requests.
   */
  CompletableFuture<Void> syncFuture() {
    if (syncInterval == 0) return CompletableFuture.completedFuture(null);
    var force = new CompletableFuture<Void>();
    requestedSyncs.add(force);
    LockSupport.unpark(thread);
    if (hasEnded) failRemainingSyncs();
    return force;
  }

  private void run() {
    try {
      while (!inbox.isClosing()) writeNext();
    } finally {
      inbox.refuseNewEntries(); // the number of waiting entries is finite now
      while (!inbox.isEmpty() || !batch.isEmpty()) write();
      finish();
    }
  }

  private void writeNext() {
    inbox.resume();
    write();
    if (inbox.isEmpty() && inbox.tryRest()) awaitWork();
  }

  private void write() {
    try {
      Thread.interrupted(); // it would close the file, and end the next sleep at once
      takeBatch();
      if (!batch.isEmpty()) commit();
      syncIfDue();
      markEndIfDue();
      log.prepare();
    } catch (StoreException broken) { // by a force that was due
      log("what was told as stored may be missing", broken);
    } catch (Throwable failure) { // out of memory
      failWithoutMemory(failure);
    }
  }

  private void failWithoutMemory(Throwable failure) {
    try {
      fail(new StoreBusyException("the journal failed while it wrote", failure)); // it may be in the file
    } catch (Throwable again) {
      // entries that were not told are still in the batch, and are written with the next one
    }
  }

  private void takeBatch() {
    long bytes = 0;
    for (var next = inbox.peek(); next != null && batch.size() < MAX_RECORDS; next = inbox.peek()) {
      var refusal = next.refusal();
      if (refusal != null) {
        refuse(inbox.poll(), refusal);
        continue;
      }
      bytes += next.record().remaining();
      if (!batch.isEmpty() && (bytes > MAX_BYTES || Frame.size(batch.size() + 1, bytes) > log.maxFrameSize())) return;
      batch.add(next);
      inbox.poll(); // last: without memory, the next turn tries again
    }
  }

  private void commit() {
    int records = batch.size();
    var event = StoreEvents.beginCommit();
    Frame.FramePosition frame;
    try {
      frame = append(event);
    } catch (StoreException failure) {
      fail(failure);
      return;
    }
    int offset = frame.offset() + Frame.RECORDS_OFFSET;
    while (!batch.isEmpty()) {
      var entry = batch.removeFirst();
      notifyStored(entry, frame.segment(), offset);
      offset = Frame.nextOffset(offset, entry.record());
    }
    // last, because a failure without memory is no failure of the commit
    if (event != null) StoreEvents.endCommit(event, log, Segment.nameOf(frame.segment()), records,
        Frame.align(offset - frame.offset()));
  }

  private Frame.FramePosition append(Object event) {
    batchBytes = batch.size();
    try {
      var frame = log.append(batch.stream().map(LogEntry::record).toList(), millis.getAsLong());
      StoreEvents.onWritten(event);
      if (syncInterval == 0) {
        log.sync();
        StoreEvents.onSynced(event);
      } else if (firstUnsynced == 0) firstUnsynced = System.nanoTime();
      isUnmarked = true;
      lastCommit = System.nanoTime();
      return frame;
    } finally {
      batchBytes = 0;
    }
  }

  private void notifyStored(LogEntry entry, int segment, int offset) {
    byteBudget.release(entry.record().remaining());
    try {
      entry.onStored(segment, offset);
    } catch (Throwable failure) {
      log("an entry was stored, and failed when it was told", failure);
    }
  }

  private void fail(StoreException failure) {
    while (!batch.isEmpty()) refuse(batch.removeFirst(), failure);
  }

  private void refuse(LogEntry entry, StoreException why) {
    byteBudget.release(entry.record().remaining());
    try {
      entry.onRefused(why);
    } catch (Throwable failure) {
      log("an entry was refused, and failed when it was told", failure);
    }
  }

  private void syncIfDue() {
    int count = requestedSyncs.size(); // requests that come later also want later frames on disk
    boolean due = firstUnsynced != 0 && (count > 0 || System.nanoTime() - firstUnsynced >= syncInterval);
    try {
      if (due) {
        firstUnsynced = 0;
        log.sync();
      }
    } finally {
      for (; count > 0; count--) completeSync(requestedSyncs.remove());
    }
  }

  /** Marks the end of a burst, once. A busy journal needs no mark: its next frame is one. */
  private void markEndIfDue() {
    if (!isUnmarked || firstUnsynced != 0 || System.nanoTime() - lastCommit < quietTime) return;
    isUnmarked = false; // also if it fails: the next burst tries again
    try {
      log.markSynced(millis.getAsLong());
    } catch (StoreException failure) {
      log("all that was told as stored is on disk, but the mark that says so could not be written", failure);
    }
  }

  private void completeSync(CompletableFuture<Void> force) {
    if (log.isBroken()) force.completeExceptionally(new StoreClosedException("the store in " + log + " is broken"));
    else force.complete(null);
  }

  /** Frames that are not on disk now never will be. */
  private void failRemainingSyncs() {
    for (var force = requestedSyncs.poll(); force != null; force = requestedSyncs.poll())
      force.completeExceptionally(new StoreClosedException("the store in " + log + " is closed"));
  }

  private void awaitWork() {
    long longest = firstUnsynced != 0 ? syncInterval - (System.nanoTime() - firstUnsynced)
        : isUnmarked ? quietTime - (System.nanoTime() - lastCommit) : Long.MAX_VALUE;
    if (!log.isPrepared()) longest = Math.min(longest, SegmentPreallocator.RETRY_NANOS);
    LockSupport.parkNanos(this, longest);
  }

  private void finish() {
    try {
      if (firstUnsynced != 0) log.sync();
      log.close(millis.getAsLong());
    } catch (Throwable failure) {
      log("the log could not be forced and marked as closed; what was stored last may be missing", failure);
    } finally {
      hasEnded = true;
      failRemainingSyncs();
    }
  }

  private static void log(String what, Throwable failure) {
    log(() -> LoggerFactory.getLogger(LogWriter.class).error(what, failure));
  }

  /** A logger is user code. */
  static void log(Runnable line) {
    try {
      line.run();
    } catch (Throwable broken) {
      // it cannot be told
    }
  }
}
