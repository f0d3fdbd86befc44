package io.fibry.store.folder;

import io.fibry.store.StoreFullException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.slf4j.LoggerFactory;

/**
 * Makes segments in advance, since that takes as long as thousands of commits. The log's thread
 * uses it; others may ask whether the disk is full.
 */
final class Spares {
  private static final long PAUSE = 1_000_000_000; // after a failure

  private final Disk disk;
  private final Executor maker;
  private final int size;
  private final LongSupplier nanoTime;
  private CompletableFuture<Void> next = CompletableFuture.completedFuture(null);
  private volatile long failedAt; // written by the maker, before `full`
  private volatile boolean full;

  Spares(Disk disk, Executor maker, int size, LongSupplier nanoTime) {
    this.disk = disk;
    this.maker = maker;
    this.size = size;
    this.nanoTime = nanoTime;
  }

  /** Whether the last segment that was asked for could not be made. */
  boolean isFull() {
    return full;
  }

  int size() {
    return size;
  }

  /** Begins to make it. */
  void begin(Segment segment) {
    try {
      next = CompletableFuture.runAsync(() -> make(segment), maker);
    } catch (Throwable noThread) {
      failed(segment, noThread);
      next = CompletableFuture.failedFuture(noThread);
    }
  }

  private void make(Segment segment) {
    try {
      segment.make(disk, size);
      full = false;
    } catch (Throwable failure) {
      try {
        disk.delete(segment.name() + NewFile.UNREADY); // what is there of it takes room
      } catch (IOException again) {
        failure.addSuppressed(again);
      }
      failed(segment, failure);
      throw new CompletionException(failure);
    }
  }

  private void failed(Segment segment, Throwable failure) {
    failedAt = nanoTime.getAsLong();
    full = true;
    LoggerFactory.getLogger(Spares.class).warn("{} has no room for {} in advance", disk, segment.name(), failure);
  }

  /**
   * When it answers, the segment that was begun is there. Where that failed it tries again, once a
   * second.
   */
  void await(Segment segment) {
    if (next.isCompletedExceptionally() && nanoTime.getAsLong() - failedAt >= PAUSE) begin(segment);
    try {
      next.join();
    } catch (CompletionException failure) {
      throw full(segment, failure.getCause());
    }
  }

  /** When it answers, nothing is made any more. */
  void close() {
    next.handle((none, failure) -> null).join();
  }

  private StoreFullException full(Segment segment, Throwable cause) {
    return new StoreFullException(disk + ": no room for " + segment.name() + ", of " + size
        + " bytes. Nothing is lost; free some space, and the store goes on", cause);
  }
}
