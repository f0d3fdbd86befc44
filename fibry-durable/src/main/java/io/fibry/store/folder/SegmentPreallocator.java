package io.fibry.store.folder;

import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.Lines;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.LoggerFactory;

/**
 * Makes segments in advance, since that takes as long as thousands of commits. The log's thread
 * uses it; others may ask whether the disk is full.
 */
final class SegmentPreallocator {
  static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1); // after a failure
  private static final long LOG_NANOS = TimeUnit.MINUTES.toNanos(1); // between lines of the log

  private final StorageDirectory disk;
  private final Executor worker;
  private final int size;
  private final LongSupplier nanoTime;
  private CompletableFuture<Void> preparation = CompletableFuture.completedFuture(null);
  private long loggedAt; // as the next two, written by the maker, one after the other
  private boolean hasLoggedFull; // that it is full
  private long failedAt; // read by the log's thread when the maker is through
  private volatile boolean isFull; // written by the maker
  private volatile Runnable onFull = () -> {};

  SegmentPreallocator(StorageDirectory disk, Executor worker, int size, LongSupplier nanoTime) {
    this.disk = disk;
    this.worker = worker;
    this.size = size;
    this.nanoTime = nanoTime;
    this.loggedAt = nanoTime.getAsLong() - LOG_NANOS;
  }

  /** Whether the last segment that was asked for could not be made. */
  boolean isFull() {
    return isFull;
  }

  int size() {
    return size;
  }

  /** Code that may make room: runs when the disk gets full, and once a minute while it stays so. */
  void onFull(Runnable code) {
    onFull = code;
    if (isFull) code.run();
  }

  /** Whether the segment that was begun exists. */
  boolean isReady() {
    return preparation.isDone() && !preparation.isCompletedExceptionally();
  }

  /** Begins to make it. */
  void startPreparing(Segment segment) {
    try {
      preparation = CompletableFuture.runAsync(() -> make(segment), worker);
    } catch (Throwable noThread) {
      preparation = CompletableFuture.failedFuture(noThread);
      failed(segment, noThread);
    }
  }

  private void make(Segment segment) {
    try {
      segment.create(disk, size);
      isFull = false;
    } catch (Throwable failure) {
      try {
        disk.delete(segment.name() + AtomicFile.UNFINISHED_SUFFIX); // an unfinished file takes room
      } catch (IOException again) {
        failure.addSuppressed(again);
      }
      failed(segment, failure);
      throw new CompletionException(failure);
    }
    if (hasLoggedFull)
      LogWriter.log(() -> LoggerFactory.getLogger(SegmentPreallocator.class).info("{} has room again", disk));
    hasLoggedFull = false;
  }

  private void failed(Segment segment, Throwable failure) {
    if (failure instanceof FolderTakenException) { // the log breaks when it needs the segment, or before
      LogWriter.log(() -> LoggerFactory.getLogger(SegmentPreallocator.class)
          .error("the store in {} cannot create {}, since another process may own the folder", disk, segment.name(),
              failure));
      return;
    }
    failedAt = nanoTime.getAsLong();
    boolean again = isFull; // no segment was made since it failed before
    isFull = true;
    StoreEvents.full(disk, segment.name(), size, failure);
    boolean tells = failedAt - loggedAt >= LOG_NANOS;
    if (tells) logFailure(segment, failure);
    if (tells || !again) onFull.run();
  }

  private void logFailure(Segment segment, Throwable failure) {
    loggedAt = failedAt;
    hasLoggedFull = true;
    LogWriter.log(() -> LoggerFactory.getLogger(SegmentPreallocator.class).warn(
        "{} has no room for {}, of {} bytes: it takes no new actors and no messages to keep, and no turns once the "
            + "file before is full. Free some space, and it goes on",
        disk, segment.name(), size, failure));
  }

  /** Tries again, where that failed a second ago. */
  void retry(Segment segment) {
    if (isFull && preparation.isCompletedExceptionally() && nanoTime.getAsLong() - failedAt >= RETRY_NANOS)
      startPreparing(segment);
  }

  /** When it returns, the segment that was begun exists. */
  void awaitPrepared(Segment segment) {
    retry(segment);
    try {
      preparation.join();
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof FolderTakenException taken)
        throw new StoreWriteException(Lines.message(taken), taken);
      throw full(segment, failure.getCause());
    }
  }

  /** When it returns, no segment is being made any more. */
  void close() {
    preparation.handle((none, failure) -> null).join();
  }

  /**
   * Returns the refusal of work that is not stored while the disk is full, so that running work may
   * continue in the last file.
   */
  StoreFullException refusal(String what) {
    return new StoreFullException(what + ": " + disk + " has no room for another file, of " + size
        + " bytes. Nothing is lost; free some space, and the store goes on", null);
  }

  private StoreFullException full(Segment segment, Throwable cause) {
    return new StoreFullException(disk + ": no room for " + segment.name() + ", of " + size
        + " bytes. Nothing is lost; free some space, and the store goes on", cause);
  }
}
