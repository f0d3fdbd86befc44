package io.fibry.store.folder;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
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
  private final List<Segment> full; // oldest first; under this object's monitor, as all below
  private CompletableFuture<Void> pass = CompletableFuture.completedFuture(null);
  private boolean closed;

  Compaction(Disk disk, int size, Index index, List<Segment> full, Executor maker) {
    this.disk = disk;
    this.size = size;
    this.index = index;
    this.maker = maker;
    this.full = new ArrayList<>(full);
  }

  /** By the log's thread: all records of this segment are in the index. */
  synchronized void sealed(Segment segment) {
    full.add(segment);
    long compact = full.stream().filter(Segment::compact).count();
    if (closed || !pass.isDone() || full.size() - compact < Math.max(LEAST, compact)) return;
    var segments = List.copyOf(full);
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
    try {
      var made = rewriting.write(disk, index);
      replace(rewriting.replaced(), made);
    } catch (Throwable failure) {
      disk.delete(rewriting.segment().name() + NewFile.UNREADY);
      throw failure;
    }
  }

  private synchronized void replace(List<Segment> old, Segment made) {
    int at = full.indexOf(old.getFirst());
    full.removeAll(old);
    full.add(at, made);
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
