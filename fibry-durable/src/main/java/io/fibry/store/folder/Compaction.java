package io.fibry.store.folder;

import io.fibry.store.recorder.Recorder;
import java.io.IOException;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Rewrites full segments without what is dead, when as many have got full as were left the last
 * time: so each byte is written again about once while the log doubles.
 *
 * <p>It goes from the oldest to the newest, and what a turn has done is left out. That is safe: the
 * index knew all of a segment before it was full, so what was done is in none of the files that
 * were rewritten before. If a pass ends early, the segments that it did not come to still say what
 * was done.
 */
final class Compaction {
  private static final int LEAST = 4; // segments that got full

  private final Disk disk;
  private final int size;
  private final Index index;
  private final Executor maker;
  private final NavigableMap<Long, Segment> full; // by the last frame of each; thread-safe
  private final Supplier<CompletableFuture<Void>> forced; // done when all that the index knows is on disk
  private final ReentrantLock files = new ReentrantLock(); // by who replaces some, or reads all
  private CompletableFuture<Void> pass = CompletableFuture.completedFuture(null); // under this object's monitor
  private boolean closed; // likewise

  Compaction(Disk disk, int size, Index index, NavigableMap<Long, Segment> full,
      Supplier<CompletableFuture<Void>> forced, Executor maker) {
    this.disk = disk;
    this.size = size;
    this.index = index;
    this.full = full;
    this.forced = forced;
    this.maker = maker;
  }

  /** By the log's thread: one more is full, and all of its records are in the index. */
  synchronized void sealed() {
    long compact = full.values().stream().filter(Segment::compact).count();
    if (closed || !pass.isDone() || full.size() - compact < Math.max(LEAST, compact)) return;
    var segments = List.copyOf(full.values());
    try {
      pass = CompletableFuture.runAsync(() -> run(segments), maker);
    } catch (Throwable noThread) {
      failed(noThread);
    }
  }

  private void run(List<Segment> segments) {
    try {
      var rewriting = new Rewriting();
      for (var segment : segments) {
        if (isClosed()) return;
        var content = Rewriting.Content.of(segment, disk, index);
        if (!rewriting.fits(content, size)) {
          end(rewriting);
          rewriting = new Rewriting();
        }
        rewriting.add(content);
      }
      end(rewriting);
    } catch (Throwable failure) {
      failed(failure);
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private void end(Rewriting rewriting) throws IOException {
    if (rewriting.isVain()) return;
    files.lock();
    try {
      var event = Recorder.beginCompaction();
      long before = event == null ? 0 : bytes(rewriting.replaced());
      rewriting.write(disk, index, full, forced.get());
      if (event != null) Recorder.endCompaction(event, disk, rewriting.segment().name(), rewriting.replaced().size(),
          before, disk.size(rewriting.segment().name()));
    } catch (Throwable failure) {
      disk.delete(rewriting.segment().name() + NewFile.UNREADY);
      throw failure;
    } finally {
      files.unlock();
    }
  }

  interface Reading {
    void run() throws IOException;
  }

  /** Reads files, none of which is replaced or deleted meanwhile. */
  void whileFilesStay(Reading reading) throws IOException {
    files.lock();
    try {
      reading.run();
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
    LoggerFactory.getLogger(Compaction.class).warn("{} keeps what is dead until the next segment is full", disk,
        failure);
  }

  /** After the file that is being made. */
  synchronized void stop() {
    closed = true;
  }

  /** When it answers, nothing is rewritten any more. */
  void close() {
    stop();
    pass().handle((none, failure) -> null).join();
  }

  private synchronized CompletableFuture<Void> pass() {
    return pass;
  }
}
