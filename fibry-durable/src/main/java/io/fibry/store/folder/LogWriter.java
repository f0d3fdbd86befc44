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
    void stored(int segment, int offset);

    /** It is not on disk, unless the exception says that nobody knows. */
    void refused(StoreException why);
  }

  private static final int MOST_RECORDS = 8192;
  private static final int MOST_BYTES = 8 << 20; // but for one record
  static final int MOST_RECORD = 16 << 20;
  static final long QUIET = TimeUnit.MILLISECONDS.toNanos(20);

  private final SegmentLog log;
  private final LongSupplier millis;
  private final long pause; // between two forces, in nanoseconds, or 0
  private final long quiet; // after the last commit of a burst, until it is marked, in nanoseconds
  private final Semaphore room; // in bytes
  private final int most;
  private final JournalQueue<LogEntry> inbox = new JournalQueue<>();
  private final Thread thread = Thread.ofPlatform().daemon().name("fibry-journal").unstarted(this::run);
  private volatile int writing; // the size of the batch; written by the thread
  private final ArrayDeque<LogEntry> batch = new ArrayDeque<>(); // the thread's own, as the next one
  private long unforced; // the time of the first frame that is not forced, or 0 if all are
  private boolean unmarked; // no mark says yet that the last commit is on disk
  private long committed; // the time of the last commit, or of the opening
  private final ConcurrentLinkedQueue<CompletableFuture<Void>> wanted = new ConcurrentLinkedQueue<>(); // forces
  private volatile boolean over; // written by the thread; then those who want a force see to it

  private LogWriter(SegmentLog log, LongSupplier millis, long pause, long quiet, int room) {
    this.log = log;
    this.millis = millis;
    this.pause = pause;
    this.quiet = quiet;
    this.unmarked = log.isOpenedUnmarked();
    this.committed = System.nanoTime();
    this.room = new Semaphore(room, true);
    this.most = (int) Math.min(Math.min(MOST_RECORD, room), log.most() - Frame.size(1, 0));
  }

  /**
   * @param quiet nanoseconds without a commit, after which a mark says that the last one is on disk
   * @param room for entries that wait to be stored, in bytes: senders of more wait
   */
  static LogWriter open(SegmentLog log, LongSupplier millis, long pause, long quiet, int room) {
    var journal = new LogWriter(log, millis, pause, quiet, room);
    journal.thread.start();
    return journal;
  }

  /** How many bytes a record may have. */
  int most() {
    return most;
  }

  /** How many entries wait, or are being written. */
  int underWay() {
    return inbox.size() + writing;
  }

  boolean isEnded() {
    return inbox.isEnded();
  }

  void add(LogEntry entry) throws InterruptedException {
    int size = entry.record().remaining();
    // an interrupt matters only to those who wait, and none overtakes them
    if (room.hasQueuedThreads() || !room.tryAcquire(size)) room.acquire(size);
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
   * and then {@code over} is read; the thread writes {@code over} and then looks for added
   * requests.
   */
  CompletableFuture<Void> forced() {
    if (pause == 0) return CompletableFuture.completedFuture(null);
    var force = new CompletableFuture<Void>();
    wanted.add(force);
    LockSupport.unpark(thread);
    if (over) endForces();
    return force;
  }

  private void run() {
    try {
      while (!inbox.isClosing()) turn();
    } finally {
      inbox.end(); // the number of waiting entries is finite now
      while (!inbox.isEmpty() || !batch.isEmpty()) write();
      end();
    }
  }

  private void turn() {
    inbox.goOn();
    write();
    if (inbox.isEmpty() && inbox.rest()) sleep();
  }

  private void write() {
    try {
      Thread.interrupted(); // it would close the file, and end the next sleep at once
      take();
      if (!batch.isEmpty()) commit();
      forceIfDue();
      markIfDue();
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

  private void take() {
    long bytes = 0;
    for (var next = inbox.peek(); next != null && batch.size() < MOST_RECORDS; next = inbox.peek()) {
      var refusal = next.refusal();
      if (refusal != null) {
        refuse(inbox.poll(), refusal);
        continue;
      }
      bytes += next.record().remaining();
      if (!batch.isEmpty() && (bytes > MOST_BYTES || Frame.size(batch.size() + 1, bytes) > log.most())) return;
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
    int offset = frame.offset() + Frame.RECORDS;
    while (!batch.isEmpty()) {
      var entry = batch.removeFirst();
      tell(entry, frame.segment(), offset);
      offset = Frame.next(offset, entry.record());
    }
    // last, because a failure without memory is no failure of the commit
    if (event != null) StoreEvents.endCommit(event, log, Segment.nameOf(frame.segment()), records,
        Frame.aligned(offset - frame.offset()));
  }

  private Frame.FramePosition append(Object event) {
    writing = batch.size();
    try {
      var frame = log.append(batch.stream().map(LogEntry::record).toList(), millis.getAsLong());
      StoreEvents.written(event);
      if (pause == 0) {
        log.force();
        StoreEvents.forced(event);
      } else if (unforced == 0) unforced = System.nanoTime();
      unmarked = true;
      committed = System.nanoTime();
      return frame;
    } finally {
      writing = 0;
    }
  }

  private void tell(LogEntry entry, int segment, int offset) {
    room.release(entry.record().remaining());
    try {
      entry.stored(segment, offset);
    } catch (Throwable failure) {
      log("an entry was stored, and failed when it was told", failure);
    }
  }

  private void fail(StoreException failure) {
    while (!batch.isEmpty()) refuse(batch.removeFirst(), failure);
  }

  private void refuse(LogEntry entry, StoreException why) {
    room.release(entry.record().remaining());
    try {
      entry.refused(why);
    } catch (Throwable failure) {
      log("an entry was refused, and failed when it was told", failure);
    }
  }

  private void forceIfDue() {
    int count = wanted.size(); // requests that come later also want later frames on disk
    boolean due = unforced != 0 && (count > 0 || System.nanoTime() - unforced >= pause);
    try {
      if (due) {
        unforced = 0;
        log.force();
      }
    } finally {
      for (; count > 0; count--) settle(wanted.remove());
    }
  }

  /** Marks the end of a burst, once. A busy journal needs no mark: its next frame is one. */
  private void markIfDue() {
    if (!unmarked || unforced != 0 || System.nanoTime() - committed < quiet) return;
    unmarked = false; // also if it fails: the next burst tries again
    try {
      log.mark(millis.getAsLong());
    } catch (StoreException failure) {
      log("all that was told as stored is on disk, but the mark that says so could not be written", failure);
    }
  }

  private void settle(CompletableFuture<Void> force) {
    if (log.isBroken()) force.completeExceptionally(new StoreClosedException("the store in " + log + " is broken"));
    else force.complete(null);
  }

  /** Frames that are not on disk now never will be. */
  private void endForces() {
    for (var force = wanted.poll(); force != null; force = wanted.poll())
      force.completeExceptionally(new StoreClosedException("the store in " + log + " is closed"));
  }

  private void sleep() {
    long longest = unforced != 0 ? pause - (System.nanoTime() - unforced)
        : unmarked ? quiet - (System.nanoTime() - committed) : Long.MAX_VALUE;
    if (!log.isPrepared()) longest = Math.min(longest, SegmentPreallocator.PAUSE);
    LockSupport.parkNanos(this, longest);
  }

  private void end() {
    try {
      if (unforced != 0) log.force();
      log.close(millis.getAsLong());
    } catch (Throwable failure) {
      log("the log could not be forced and marked as closed; what was stored last may be missing", failure);
    } finally {
      over = true;
      endForces();
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
