package io.fibry.store.folder.log;

import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import io.fibry.store.folder.disk.FolderTakenException;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Creates segments in advance, because creating a segment takes as long as thousands of commits.
 * Used by the log's thread; other threads may ask whether the disk is full.
 */
public final class SegmentPreallocator {
  static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1); // from a failure to the next attempt
  private static final long LOG_NANOS = TimeUnit.MINUTES.toNanos(1); // between two warnings while the disk stays full

  private final StorageDirectory disk;
  private final Executor worker;
  private final int size; // of a segment, in bytes
  private final LongSupplier nanoTime;
  private CompletableFuture<Void> preparation = CompletableFuture.completedFuture(null);
  // `nanoTime` of the last warning. This and the next two fields are written by one task of the
  // worker at a time, or by the log's thread if the worker refuses a task.
  private long loggedAt;
  private boolean hasLoggedFull; // whether the last warning said that the disk is full
  private long failedAt; // `nanoTime` of the last failure; read by the log's thread after the task has ended
  private volatile boolean isFull; // whether the last attempt failed; written as `loggedAt` is
  private volatile Runnable onFull = () -> {}; // may free disk space

  public SegmentPreallocator(StorageDirectory disk, Executor worker, int size, LongSupplier nanoTime) {
    this.disk = disk;
    this.worker = worker;
    this.size = size;
    this.nanoTime = nanoTime;
    this.loggedAt = nanoTime.getAsLong() - LOG_NANOS;
  }

  /** Returns whether the last attempt to create a segment failed. */
  public boolean isFull() {
    return isFull;
  }

  /** Returns the size of a segment in bytes. */
  int size() {
    return size;
  }

  /**
   * Sets code that may free disk space. It runs when the disk becomes full, and then once a minute
   * while it is full.
   */
  public void onFull(Runnable action) {
    onFull = action;
    if (isFull) action.run();
  }

  /** Returns whether the requested segment exists. */
  boolean isReady() {
    return preparation.isDone() && !preparation.isCompletedExceptionally();
  }

  /** Starts to create a segment. */
  void startPreparing(Segment segment) {
    try {
      preparation = CompletableFuture.runAsync(() -> create(segment), worker);
    } catch (Throwable failure) {
      preparation = CompletableFuture.failedFuture(failure);
      onFailure(segment, failure);
    }
  }

  private void create(Segment segment) {
    try {
      segment.create(disk, size);
      isFull = false;
    } catch (Throwable failure) {
      try {
        disk.delete(segment.name() + AtomicFile.UNFINISHED_SUFFIX); // an unfinished file takes space
      } catch (IOException deleteFailure) {
        failure.addSuppressed(deleteFailure);
      }
      onFailure(segment, failure);
      throw new CompletionException(failure);
    }
    if (hasLoggedFull)
      LoggerCall.run(() -> logger().info("{} can create files again", disk));
    hasLoggedFull = false;
  }

  private void onFailure(Segment segment, Throwable failure) {
    if (failure instanceof FolderTakenException) { // the log becomes broken when it needs the segment, or earlier
      LoggerCall.run(() -> logger().error(
          "the store in {} cannot create {}, because another process may own the folder", disk, segment.name(),
          failure));
      return;
    }
    failedAt = nanoTime.getAsLong();
    boolean wasFull = isFull; // true if no segment was created since the last failure
    isFull = true;
    StoreEvents.recordFull(disk, segment.name(), size, failure);
    boolean isLogged = failedAt - loggedAt >= LOG_NANOS;
    if (isLogged) logFailure(segment, failure);
    if (isLogged || !wasFull) onFull.run();
  }

  private void logFailure(Segment segment, Throwable failure) {
    loggedAt = failedAt;
    hasLoggedFull = true;
    LoggerCall.run(() -> logger().warn(
        "{} could not create {}, of {} bytes, perhaps because the disk is full: it refuses new actors and messages, "
            + "and turns when the current file is full. It tries again; if the disk is full, free some space",
        disk, segment.name(), size, failure));
  }

  /** Starts to create the segment again, if the last attempt failed at least a second ago. */
  void retry(Segment segment) {
    if (isFull && preparation.isCompletedExceptionally() && nanoTime.getAsLong() - failedAt >= RETRY_NANOS)
      startPreparing(segment);
  }

  /** Waits until the requested segment exists. Throws if it cannot be created. */
  void awaitPrepared(Segment segment) {
    retry(segment);
    try {
      preparation.join();
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof FolderTakenException folderTaken)
        throw new StoreWriteException(Lines.message(folderTaken), folderTaken);
      throw fullException(segment, failure.getCause());
    }
  }

  /** Waits until no segment is being created any more. */
  public void close() {
    preparation.handle((result, failure) -> null).join();
  }

  /**
   * Returns the exception that refuses new actors and messages while the disk is full. The space in
   * the last segment is left to the turns of existing actors.
   */
  public StoreFullException refusal(String refusedWork) {
    return new StoreFullException(refusedWork + ": " + disk + " has no space for another file, of " + size
        + " bytes. Nothing is lost; free some space, and the store continues", null);
  }

  private StoreFullException fullException(Segment segment, Throwable cause) {
    return new StoreFullException(disk + ": no space for " + segment.name() + ", of " + size
        + " bytes. Nothing is lost; free some space, and the store continues", cause);
  }

  private static Logger logger() {
    return SafeLogger.of("io.fibry.store.folder.SegmentPreallocator");
  }
}
