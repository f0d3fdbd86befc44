package io.fibry.store.folder.compaction;

import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import io.fibry.store.folder.index.LogIndex;
import io.fibry.store.folder.log.LoggerCall;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.SafeLogger;
import java.io.IOException;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Rewrites sealed segments without their dead records. A pass begins when there are as many newly
 * sealed segments as segments that previous passes have written. Each byte is thus rewritten about
 * once while the log grows to twice its size.
 *
 * <p>A rewritten turn no longer says which messages it handled. That is safe, because a pass goes
 * from the oldest segment to the newest. When it reaches a turn, it has already rewritten the
 * earlier segments without the messages that the turn handled, which are dead by then. If
 * a pass ends early, the segments that it did not reach still say which messages were handled.
 *
 * <p>A pass pauses for three quarters of the time, unless the next pass is already due, the disk is
 * full, or the store is closed. When the disk is full, no further segment is sealed, so
 * a pass begins at once. Such a pass does not copy segments without dead records, because the copy
 * would need the space that the disk lacks, and free none.
 */
public final class Compaction {
  private static final int MIN_SEGMENTS = 4; // min number of newly sealed segments that begins a pass

  private final StorageDirectory disk;
  private final int size; // of a segment, in bytes
  private final LogIndex index;
  private final Executor worker;
  private final NavigableMap<Long, Segment> sealed; // segments by the number of their last frame; thread-safe
  // Returns a future that completes when all records of the index are on disk.
  private final Supplier<CompletableFuture<Void>> syncAll;
  private final Supplier<DiskThrottle> throttleFactory; // makes a throttle for each pass
  private final ReentrantLock filesLock = new ReentrantLock(); // held while files are replaced, or a backup reads them
  private CompletableFuture<Void> pass = CompletableFuture.completedFuture(null); // guarded by this object's monitor
  private DiskThrottle throttle; // of the current pass; guarded by the monitor, as are the next two fields
  private long passSize; // the number of newly sealed segments that begins a pass
  private boolean isStopped; // whether no further pass may begin

  public Compaction(StorageDirectory disk, int size, LogIndex index, NavigableMap<Long, Segment> sealed,
      Supplier<CompletableFuture<Void>> syncAll, Executor worker, Supplier<DiskThrottle> throttleFactory) {
    this.disk = disk;
    this.size = size;
    this.index = index;
    this.sealed = sealed;
    this.syncAll = syncAll;
    this.worker = worker;
    this.throttleFactory = throttleFactory;
    this.throttle = throttleFactory.get();
  }

  /**
   * Called by the log's thread when it has sealed a segment, and the index has all records of this
   * segment.
   */
  public synchronized void onSegmentSealed() {
    if (isStopped) return;
    long compactSegments = sealed.values().stream().filter(Segment::isCompact).count();
    long newSegments = sealed.size() - compactSegments;
    boolean isStarting = pass.isDone();
    if (isStarting) passSize = Math.max(MIN_SEGMENTS, compactSegments);
    if (newSegments < passSize) return;
    if (isStarting) throttle = throttleFactory.get();
    if (newSegments >= 2 * passSize) throttle.hurry();
    if (isStarting) begin(List.copyOf(sealed.values()), throttle, false);
  }

  /** Called when the disk has no space for another segment. */
  public synchronized void onDiskFull() {
    if (isStopped) return;
    boolean isStarting = pass.isDone();
    if (isStarting) throttle = throttleFactory.get();
    throttle.hurry();
    if (isStarting) begin(List.copyOf(sealed.values()), throttle, true);
  }

  private void begin(List<Segment> segments, DiskThrottle passThrottle, boolean isDiskFull) {
    try {
      pass = CompletableFuture.runAsync(() -> run(segments, passThrottle, isDiskFull), worker);
    } catch (Throwable failure) {
      logFailure(failure);
    }
  }

  private void run(List<Segment> segments, DiskThrottle passThrottle, boolean isDiskFull) {
    try {
      var liveRecords = new LiveRecordReader(disk, index, passThrottle);
      var rewriter = new SegmentRewriter();
      for (var segment : segments) {
        if (isStopped()) return;
        passThrottle.begin();
        var content = SegmentRewriter.SegmentContent.of(segment, liveRecords);
        boolean isSkipped = isDiskFull && content.seal().isAllLive();
        if (isSkipped || !rewriter.fits(content, size)) {
          rewriteAll(rewriter, liveRecords);
          rewriter = new SegmentRewriter();
        }
        if (!isSkipped) rewriter.add(content);
      }
      rewriteAll(rewriter, liveRecords);
    } catch (CompletionException storeEnded) {
      // the store is closed, or is broken and has reported that
    } catch (Throwable failure) {
      logFailure(failure);
    }
  }

  private synchronized boolean isStopped() {
    return isStopped;
  }

  /** Writes the new segment, and puts it in place of the segments that it replaces. */
  private void rewriteAll(SegmentRewriter rewriter, LiveRecordReader liveRecords) throws IOException {
    if (rewriter.isUnchanged()) return;
    try {
      var event = StoreEvents.beginCompaction();
      long oldBytes = event == null ? 0 : sizeOf(rewriter.replaced());
      rewriter.write(disk, liveRecords);
      syncAll.get().join(); // dead records are deleted only after the later records that replaced them are on disk
      withStableFiles(() -> rewriter.replaceSegments(disk, index, sealed));
      if (event != null) StoreEvents.endCompaction(event, disk, rewriter.segment().name(), rewriter.replaced().size(),
          oldBytes, disk.size(rewriter.segment().name()));
    } catch (Throwable failure) {
      if (rewriter.isReplacementIncomplete()) stop();
      delete(rewriter.segment().name() + AtomicFile.UNFINISHED_SUFFIX, failure);
      throw failure;
    }
  }

  private void delete(String fileName, Throwable failure) {
    try {
      disk.delete(fileName);
    } catch (Throwable deleteFailure) {
      failure.addSuppressed(deleteFailure);
    }
  }

  public interface FileAction {
    void run() throws IOException;
  }

  /** Runs the action while no other code replaces or deletes a file of the store. */
  public void withStableFiles(FileAction action) throws IOException {
    filesLock.lock();
    try {
      action.run();
    } finally {
      filesLock.unlock();
    }
  }

  private long sizeOf(List<Segment> segments) throws IOException {
    long bytes = 0;
    for (var segment : segments) bytes += disk.size(segment.name());
    return bytes;
  }

  private void logFailure(Throwable failure) {
    LoggerCall.run(() -> SafeLogger.of("io.fibry.store.folder.Compaction").warn(
        "{} keeps replaced records until {}, because a compaction failed", disk,
        isStopped() ? "it is opened again" : "the next segment is full", failure));
  }

  /**
   * Prevents further passes. The current pass ends after the segment that it is writing, and writes
   * this segment without pauses.
   */
  public synchronized void stop() {
    isStopped = true;
    throttle.hurry();
  }

  /** Stops compaction. When this returns, no file is being rewritten any more. */
  public void close() {
    stop();
    pass().handle((result, failure) -> null).join();
  }

  private synchronized CompletableFuture<Void> pass() {
    return pass;
  }
}
