package io.fibry.store.folder;

import io.fibry.store.recorder.StoreEvents;
import java.io.IOException;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Rewrites full segments without dead records, when as many segments have become full as were left
 * the last time. So each byte is written again about once while the log doubles.
 *
 * <p>It goes from the oldest to the newest, and what a turn has done is left out. That is safe: the
 * index knew all of a segment before it was full, so a message that one of its turns has done is in
 * none of the files that were rewritten before. If a pass ends early, the segments that it did not
 * come to still say what was done.
 *
 * <p>It rests for three quarters of the time, unless a second pass is due before it is through, or
 * the store is closed. When the disk is full, no segment gets full any more, so a pass begins at
 * once. Such a pass leaves segments alone in which no record is dead: a copy needs as much room as
 * is missing, and segments behind it may have dead records.
 */
final class Compaction {
  private static final int MIN_SEGMENTS = 4; // segments that got full

  private final StorageDirectory disk;
  private final int size;
  private final LogIndex index;
  private final Executor worker;
  private final NavigableMap<Long, Segment> full; // by the last frame of each; thread-safe
  private final Supplier<CompletableFuture<Void>> syncAll; // done when all that the index knows is on disk
  private final Supplier<DiskThrottle> throttles; // of passes
  private final ReentrantLock files = new ReentrantLock(); // by who replaces some, or reads all
  private CompletableFuture<Void> pass = CompletableFuture.completedFuture(null); // under this object's monitor
  private DiskThrottle throttle; // of the pass; written and read under the monitor, as the next two
  private long sealedSegments; // segments that got full, for a pass
  private boolean closed;

  Compaction(StorageDirectory disk, int size, LogIndex index, NavigableMap<Long, Segment> full,
      Supplier<CompletableFuture<Void>> syncAll, Executor worker, Supplier<DiskThrottle> throttles) {
    this.disk = disk;
    this.size = size;
    this.index = index;
    this.full = full;
    this.syncAll = syncAll;
    this.worker = worker;
    this.throttles = throttles;
    this.throttle = throttles.get();
  }

  /**
   * Called by the log's thread: one more segment is full, and all of its records are in the index.
   */
  synchronized void onSegmentSealed() {
    if (closed) return;
    long compact = full.values().stream().filter(Segment::compact).count();
    long more = full.size() - compact;
    boolean begins = pass.isDone();
    if (begins) sealedSegments = Math.max(MIN_SEGMENTS, compact);
    if (more < sealedSegments) return;
    if (begins) throttle = throttles.get();
    if (more >= 2 * sealedSegments) throttle.hurry();
    if (begins) begin(List.copyOf(full.values()), throttle, false);
  }

  /** Called by the thread that makes segments: the disk has no room for another. */
  synchronized void onDiskFull() {
    if (closed) return;
    boolean begins = pass.isDone();
    if (begins) throttle = throttles.get();
    throttle.hurry();
    if (begins) begin(List.copyOf(full.values()), throttle, true);
  }

  private void begin(List<Segment> segments, DiskThrottle ofPass, boolean isFull) {
    try {
      pass = CompletableFuture.runAsync(() -> run(segments, ofPass, isFull), worker);
    } catch (Throwable noThread) {
      failed(noThread);
    }
  }

  private void run(List<Segment> segments, DiskThrottle ofPass, boolean isFull) {
    try {
      var living = new LiveRecordReader(disk, index, ofPass);
      var rewriting = new SegmentRewriter();
      for (var segment : segments) {
        if (isClosed()) return;
        ofPass.begin();
        var content = SegmentRewriter.SegmentContent.of(segment, living);
        boolean stays = isFull && content.seal().whole();
        if (stays || !rewriting.fits(content, size)) {
          end(rewriting, living);
          rewriting = new SegmentRewriter();
        }
        if (!stays) rewriting.add(content);
      }
      end(rewriting, living);
    } catch (CompletionException over) {
      // the store is closed, or broken, which it has told
    } catch (Throwable failure) {
      failed(failure);
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private void end(SegmentRewriter rewriting, LiveRecordReader living) throws IOException {
    if (rewriting.isUnchanged()) return;
    try {
      var event = StoreEvents.beginCompaction();
      long before = event == null ? 0 : bytes(rewriting.replaced());
      rewriting.write(disk, living);
      syncAll.get().join(); // now that it is known what was dead
      withStableFiles(() -> rewriting.replaceSegments(disk, index, full));
      if (event != null) StoreEvents.endCompaction(event, disk, rewriting.segment().name(), rewriting.replaced().size(),
          before, disk.size(rewriting.segment().name()));
    } catch (Throwable failure) {
      if (rewriting.isUnsure()) stop();
      delete(rewriting.segment().name() + AtomicFile.UNFINISHED_SUFFIX, failure);
      throw failure;
    }
  }

  private void delete(String unready, Throwable failure) {
    try {
      disk.delete(unready);
    } catch (Throwable again) {
      failure.addSuppressed(again);
    }
  }

  interface FileAction {
    void run() throws IOException;
  }

  /** No file is replaced or deleted meanwhile, except by the given code. */
  void withStableFiles(FileAction use) throws IOException {
    files.lock();
    try {
      use.run();
    } finally {
      files.unlock();
    }
  }

  private long bytes(List<Segment> segments) throws IOException {
    long bytes = 0;
    for (var segment : segments) bytes += disk.size(segment.name());
    return bytes;
  }

  private void failed(Throwable failure) {
    LogWriter.log(() -> LoggerFactory.getLogger(Compaction.class).warn("{} keeps what is dead until {}", disk,
        isClosed() ? "it is opened again" : "the next segment is full", failure));
  }

  /** After the file that is being made, for which it hurries. */
  synchronized void stop() {
    closed = true;
    throttle.hurry();
  }

  /** When it returns, no file is being rewritten any more. */
  void close() {
    stop();
    pass().handle((none, failure) -> null).join();
  }

  private synchronized CompletableFuture<Void> pass() {
    return pass;
  }
}
