package io.fibry.store.folder.log;

import io.fibry.RequestOutcome;
import io.fibry.store.StoreBrokenException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Appends frames to the segments of a store. Used by one thread at a time. */
public final class SegmentLog {
  private final StorageDirectory disk;
  private final SegmentPreallocator preallocator;
  private Segment segment;
  private long capacity; // bytes of the segment
  private int offset; // the offset of the next frame
  private long nextFrame; // the number of the next frame
  private volatile long lastSynced; // the number of the last frame that is on disk; read by other threads
  private boolean isClosed; // whether the last frame marks the log as closed
  private boolean openedUnmarked; // whether the opened log had records that no later frame confirmed to be on disk
  private List<String> tornFiles = List.of(); // files that torn ends of the log were moved to
  private NavigableMap<Long, Segment> sealedSegments; // by the number of their last frame; thread-safe
  private Runnable onSealed = () -> {}; // called when a segment was sealed
  private Runnable onSync = () -> {}; // called after each sync
  private volatile SyncStatistics syncs = SyncStatistics.NONE; // read by other threads, as is the next field
  private volatile boolean isBroken;
  private StoreBrokenException brokenReason; // null if the log is not broken, or memory ran out

  private SegmentLog(StorageDirectory disk, SegmentPreallocator preallocator) {
    this.disk = disk;
    this.preallocator = preallocator;
  }

  /** Opens a log: reads all its records, and continues after them. */
  public static SegmentLog open(StorageDirectory disk, long storeId, SegmentPreallocator preallocator,
      LogReader.FrameReader reader)
      throws IOException {
    for (var name : disk.names()) if (name.endsWith(AtomicFile.UNFINISHED_SUFFIX)) disk.delete(name);
    var log = new SegmentLog(disk, preallocator);
    var end = LogReader.open(disk, storeId, reader);
    log.continueAt(end);
    // The segments that replace these files are intact, because they have just been read.
    for (var name : end.replacedFiles()) disk.delete(name);
    return log;
  }

  private void continueAt(LogReader.LogEnd end) throws IOException {
    segment = end.segment();
    capacity = disk.size(segment.name());
    offset = end.offset();
    nextFrame = end.nextFrame();
    lastSynced = nextFrame - 1;
    isClosed = end.wasClosed();
    openedUnmarked = end.unconfirmedFrames().stream().anyMatch(unconfirmed -> unconfirmed.frame().records() > 0);
    tornFiles = end.tornFiles();
    sealedSegments = new ConcurrentSkipListMap<>(end.sealedSegments());
    // The frames are written again: after a failed sync, a sync without a new write has no effect.
    for (var unconfirmed : end.unconfirmedFrames()) rewriteUnconfirmed(unconfirmed);
    if (!sealedSegments.isEmpty()) disk.sync(sealedSegments.lastEntry().getValue().name());
    disk.sync(segment.name());
    if (!disk.names().contains(segment.next().name())) preallocator.startPreparing(segment.next());
  }

  private void rewriteUnconfirmed(LogReader.UnconfirmedFrame unconfirmed) throws IOException {
    var bytes = ByteBuffer.allocate(unconfirmed.frame().size());
    disk.read(unconfirmed.segment().name(), unconfirmed.offset(), bytes);
    disk.write(unconfirmed.segment().name(), unconfirmed.offset(), bytes.flip());
  }

  /** Returns the maximum size of a frame in bytes. */
  public long maxFrameSize() {
    return preallocator.size() - Segment.HEADER - 2 * Frame.MIN_SIZE;
  }

  /**
   * Writes a frame. If the method throws, the log does not have the frame, now or later, unless the
   * store is broken.
   *
   * @throws StoreFullException if the next segment is needed and could not be created
   * @throws StoreWriteException if the frame, or the seal before it, cannot be written, or the next
   * segment cannot be used
   * @throws StoreBrokenException if the store is or becomes broken: it is not known which bytes are
   * on disk, the log could not continue, or another process may own the folder
   */
  public Frame.FramePosition append(List<ByteBuffer> records, long time) {
    checkNotBroken();
    long size = Frame.size(records.size(), records.stream().mapToLong(ByteBuffer::remaining).sum());
    while (!fits(size + Frame.MIN_SIZE)) seal(time); // so that a mark fits after the frame
    return write(Frame.ofRecords(nextFrame, lastSynced, time, records));
  }

  /**
   * Returns whether the log, when it was opened, had records that no later frame confirmed to be on
   * disk.
   */
  boolean wasOpenedUnmarked() {
    return openedUnmarked;
  }

  /**
   * Writes a mark: a frame without records, which says that all frames before it are on disk. If a
   * frame before a mark is damaged, the damage is detected. Without a mark, a damaged last frame
   * would look like a commit that was cut off. The mark itself is not synced. The operating system
   * writes the mark within seconds, even if the process ends.
   *
   * @throws StoreWriteException if the mark cannot be written; no other byte has changed
   * @throws StoreBrokenException if it is not known which bytes are on disk
   */
  void markSynced(long time) {
    if (isBroken || lastSynced < nextFrame - 1) return;
    // Segments of older versions may have no space for a mark.
    if (fits(Frame.MIN_SIZE)) write(Frame.ofRecords(nextFrame, lastSynced, time, List.of()));
  }

  public boolean isBroken() {
    return isBroken;
  }

  public SyncStatistics syncs() {
    return syncs;
  }

  public List<String> tornFiles() {
    return tornFiles;
  }

  /** Returns the sealed segments by the number of their last frame. Thread-safe. */
  public NavigableMap<Long, Segment> sealedSegments() {
    return sealedSegments;
  }

  /** Returns the number of the last frame that is on disk. Called by any thread. */
  public long lastSynced() {
    return lastSynced;
  }

  /** Sets the code that runs after a segment was sealed. Must be called before the first append. */
  public void onSealed(Runnable listener) {
    onSealed = listener;
  }

  /** Sets the code that runs after each sync. Must be called before the first append. */
  public void onSync(Runnable listener) {
    onSync = listener;
  }

  private void checkNotBroken() {
    if (isBroken)
      throw new StoreBrokenException(brokenReason == null ? disk + " is broken" : Lines.message(brokenReason),
          brokenReason,
          RequestOutcome.NOT_DONE);
  }

  private boolean fits(long size) {
    return offset + size + Frame.MIN_SIZE <= capacity; // so that a seal fits after the frame
  }

  private Frame.FramePosition write(Frame frame) {
    var position = segment.position(offset);
    var bytes = frame.bytes(position); // before the write, because it throws if memory is short
    try {
      disk.write(segment.name(), offset, bytes);
    } catch (Throwable failure) {
      undoWrite(bytes.remaining(), failure);
      throw new StoreWriteException(disk + ": a write to " + segment.name() + " failed, and was undone", failure);
    }
    offset += bytes.remaining();
    nextFrame++;
    isClosed = frame.kind() == Frame.FrameKind.CLOSED;
    return position;
  }

  private void undoWrite(int size, Throwable failure) {
    try {
      disk.write(segment.name(), offset, ByteBuffer.allocate(size));
      disk.sync(segment.name());
    } catch (Throwable undoFailure) {
      failure.addSuppressed(undoFailure);
      throw markBroken("a write failed, and could not be undone", failure);
    }
  }

  /** Syncs all frames to disk. */
  void sync() {
    checkNotBroken();
    long start = System.nanoTime();
    try {
      disk.sync(segment.name());
    } catch (Throwable failure) {
      throw markBroken("the disk did not confirm that it has the written bytes", failure);
    }
    syncs = syncs.plus(System.nanoTime() - start);
    lastSynced = nextFrame - 1;
    onSync.run();
  }

  /** Returns whether the next segment exists, or is not needed because the log is broken. */
  boolean isPrepared() {
    return isBroken || preallocator.isReady();
  }

  /** Starts to create the next segment again, if the last attempt failed at least a second ago. */
  void prepare() {
    if (!isBroken) preallocator.retry(segment.next());
  }

  private void seal(long time) {
    var next = segment.next();
    try {
      preallocator.awaitPrepared(next);
    } catch (StoreWriteException folderTaken) { // this store must create no more files
      throw markBroken("another process may own the folder", folderTaken);
    }
    long nextCapacity = size(next); // before the seal is written, because `size` may throw
    write(Frame.ofEnd(nextFrame, lastSynced, time, Frame.FrameKind.SEALED));
    sync();
    try {
      disk.finish(segment.name());
    } catch (IOException failure) {
      throw markBroken("the log could not continue in " + next.name(), failure);
    }
    sealedSegments.put(nextFrame - 1, segment);
    segment = next;
    capacity = nextCapacity;
    offset = Segment.HEADER;
    preallocator.startPreparing(segment.next());
    onSealed.run();
  }

  private long size(Segment next) {
    try {
      return disk.size(next.name());
    } catch (IOException failure) {
      throw new StoreWriteException(disk + ": the log cannot continue in " + next.name(), failure);
    }
  }

  /**
   * Writes a last frame, which marks the log as closed. If the end of the log is lost later, the
   * loss is detected.
   */
  public void close(long time) {
    if (isBroken || isClosed) return;
    if (!fits(Frame.MIN_SIZE)) seal(time);
    write(Frame.ofEnd(nextFrame, lastSynced, time, Frame.FrameKind.CLOSED));
    sync();
  }

  private StoreBrokenException markBroken(String problem, Throwable failure) {
    isBroken = true;
    brokenReason = new StoreBrokenException(disk + ": " + problem
        + ". The store stores nothing more: close it, repair the disk, and open it again", failure,
        RequestOutcome.UNKNOWN);
    LoggerCall.run(() -> SafeLogger.of("io.fibry.store.folder.SegmentLog").error("a store is broken",
        brokenReason));
    LoggerCall.run(() -> StoreEvents.recordBroken(disk, problem, failure));
    return brokenReason;
  }

  @Override
  public String toString() {
    return disk.toString();
  }
}
