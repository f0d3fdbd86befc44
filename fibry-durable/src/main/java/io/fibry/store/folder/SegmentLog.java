package io.fibry.store.folder;

import io.fibry.Outcome;
import io.fibry.store.StoreBrokenException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.folder.FolderStore.Syncs;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.Lines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.LoggerFactory;

/** Appends frames to the segments of a store. Used by one thread at a time. */
final class SegmentLog {
  private final StorageDirectory disk;
  private final SegmentPreallocator preallocator;
  private Segment segment;
  private long capacity; // of the segment
  private int offset; // of the next frame
  private long number; // of the next frame
  private volatile long lastSynced; // the last frame that is on disk; read by others
  private boolean closed; // whether the last frame closed the log
  private boolean openedUnmarked; // when it was opened, no frame said that the last records are on disk
  private List<String> tornFiles = List.of(); // files that were kept aside when the log was opened
  private NavigableMap<Long, Segment> fullSegments; // by the last frame of each; thread-safe
  private Runnable onSealed = () -> {}; // is told when one more is full
  private Runnable onSync = () -> {};
  private volatile Syncs syncs = Syncs.NONE; // read by others, as the next one
  private volatile boolean isBroken;
  private StoreBrokenException brokenReason; // null: it is not, or there was no memory to say so

  private SegmentLog(StorageDirectory disk, SegmentPreallocator preallocator) {
    this.disk = disk;
    this.preallocator = preallocator;
  }

  /** After what was read. */
  static SegmentLog open(StorageDirectory disk, long store, SegmentPreallocator preallocator,
      LogReader.FrameReader reader)
      throws IOException {
    for (var name : disk.names()) if (name.endsWith(AtomicFile.UNFINISHED_SUFFIX)) disk.delete(name);
    var log = new SegmentLog(disk, preallocator);
    var end = LogReader.open(disk, store, reader);
    log.continueAt(end);
    for (var name : end.replaced()) disk.delete(name); // now the files that stand for these are known to be whole
    return log;
  }

  private void continueAt(LogReader.LogEnd end) throws IOException {
    segment = end.segment();
    capacity = disk.size(segment.name());
    offset = end.offset();
    number = end.number();
    lastSynced = number - 1;
    closed = end.closed();
    openedUnmarked = end.unsure().stream().anyMatch(one -> one.frame().records() > 0);
    tornFiles = end.torn();
    fullSegments = new ConcurrentSkipListMap<>(end.full());
    for (var one : end.unsure()) rewriteUnconfirmed(one); // after a force that failed, another one alone does nothing
    if (!fullSegments.isEmpty()) disk.sync(fullSegments.lastEntry().getValue().name());
    disk.sync(segment.name());
    if (!disk.names().contains(segment.next().name())) preallocator.startPreparing(segment.next());
  }

  private void rewriteUnconfirmed(LogReader.UnconfirmedFrame one) throws IOException {
    var bytes = ByteBuffer.allocate(one.frame().size());
    disk.read(one.segment().name(), one.offset(), bytes);
    disk.write(one.segment().name(), one.offset(), bytes.flip());
  }

  /** How many bytes a frame may have. */
  long maxFrameSize() {
    return preallocator.size() - Segment.HEADER - 2 * Frame.MIN_SIZE;
  }

  /**
   * Writes a frame. If it throws, the frame is not there, and will not be found later, unless the
   * store is broken.
   *
   * @throws StoreFullException if there is no room
   * @throws StoreWriteException if it cannot be written
   * @throws StoreBrokenException if it is not known which bytes are on disk
   */
  Frame.FramePosition append(List<ByteBuffer> records, long time) {
    checkNotBroken();
    long size = Frame.size(records.size(), records.stream().mapToLong(ByteBuffer::remaining).sum());
    while (!fits(size + Frame.MIN_SIZE)) seal(time); // so that a mark has room behind it
    return write(Frame.ofRecords(number, lastSynced, time, records));
  }

  /** When the log was opened, no frame said that its last records are on disk. */
  boolean isOpenedUnmarked() {
    return openedUnmarked;
  }

  /**
   * Says that all frames are on disk, in a frame without records. A damaged frame before the mark
   * is damage from now on. Without the mark, the last frame would be taken for a commit that was
   * cut off. The mark itself is not forced: the machine writes it within seconds, and the end of
   * the process takes nothing.
   *
   * @throws StoreWriteException if it cannot be written; no other byte has changed
   * @throws StoreBrokenException if it is not known which bytes are on disk
   */
  void markSynced(long time) {
    if (isBroken || lastSynced < number - 1) return;
    // Older versions left no room.
    if (fits(Frame.MIN_SIZE)) write(Frame.ofRecords(number, lastSynced, time, List.of()));
  }

  boolean isBroken() {
    return isBroken;
  }

  Syncs syncs() {
    return syncs;
  }

  List<String> tornFiles() {
    return tornFiles;
  }

  /** Those that are full, by the number of the last frame of each. Thread-safe. */
  NavigableMap<Long, Segment> fullSegments() {
    return fullSegments;
  }

  /** Called by any thread: returns the number of the last frame that is on disk. */
  long lastSynced() {
    return lastSynced;
  }

  /** Before the first append. */
  void onSealed(Runnable told) {
    onSealed = told;
  }

  /** Before the first append. */
  void onSync(Runnable told) {
    onSync = told;
  }

  private void checkNotBroken() {
    if (isBroken)
      throw new StoreBrokenException(brokenReason == null ? disk + " is broken" : Lines.message(brokenReason),
          brokenReason,
          Outcome.NOT_DONE);
  }

  private boolean fits(long size) {
    return offset + size + Frame.MIN_SIZE <= capacity; // so that it can be sealed
  }

  private Frame.FramePosition write(Frame frame) {
    var place = segment.place(offset);
    var bytes = frame.bytes(place); // without memory it throws before any byte was written
    try {
      disk.write(segment.name(), offset, bytes);
    } catch (Throwable failure) {
      undoWrite(bytes.remaining(), failure);
      throw new StoreWriteException(disk + ": a write to " + segment.name() + " failed, and was taken back", failure);
    }
    offset += bytes.remaining();
    number++;
    closed = frame.kind() == Frame.FrameKind.CLOSED;
    return place;
  }

  private void undoWrite(int size, Throwable failure) {
    try {
      disk.write(segment.name(), offset, ByteBuffer.allocate(size));
      disk.sync(segment.name());
    } catch (Throwable again) {
      failure.addSuppressed(again);
      throw markBroken("a write failed, and could not be taken back", failure);
    }
  }

  /** All frames are on disk. */
  void sync() {
    checkNotBroken();
    long began = System.nanoTime();
    try {
      disk.sync(segment.name());
    } catch (Throwable failure) {
      throw markBroken("the disk could not say that it has what was written", failure);
    }
    syncs = syncs.plus(System.nanoTime() - began);
    lastSynced = number - 1;
    onSync.run();
  }

  /** Whether the next segment exists. */
  boolean isPrepared() {
    return isBroken || preallocator.isReady();
  }

  /** Tries again to have it made, where that failed and it is time. */
  void prepare() {
    if (!isBroken) preallocator.retry(segment.next());
  }

  private void seal(long time) {
    var next = segment.next();
    try {
      preallocator.awaitPrepared(next);
    } catch (StoreWriteException taken) { // no other file can ever be made
      throw markBroken("another process may own the folder", taken);
    }
    long room = size(next); // before the seal says that it exists
    write(Frame.ofEnd(number, lastSynced, time, Frame.FrameKind.SEALED));
    sync();
    try {
      disk.finish(segment.name());
    } catch (IOException failure) {
      throw markBroken("the log could not go on in " + next.name(), failure);
    }
    fullSegments.put(number - 1, segment);
    segment = next;
    capacity = room;
    offset = Segment.HEADER;
    preallocator.startPreparing(segment.next());
    onSealed.run();
  }

  private long size(Segment next) {
    try {
      return disk.size(next.name());
    } catch (IOException failure) {
      throw new StoreWriteException(disk + ": the log cannot go on in " + next.name(), failure);
    }
  }

  /** Marks the end, so that its loss would be found out. */
  void close(long time) {
    if (isBroken || closed) return;
    if (!fits(Frame.MIN_SIZE)) seal(time);
    write(Frame.ofEnd(number, lastSynced, time, Frame.FrameKind.CLOSED));
    sync();
  }

  private StoreBrokenException markBroken(String what, Throwable failure) {
    isBroken = true;
    brokenReason = new StoreBrokenException(disk + ": " + what
        + ". The store takes nothing more: close it, see to the disk, and open it again", failure, Outcome.UNKNOWN);
    LogWriter.log(() -> LoggerFactory.getLogger(SegmentLog.class).error("a store is broken", brokenReason));
    LogWriter.log(() -> StoreEvents.broken(disk, what, failure));
    return brokenReason;
  }

  @Override
  public String toString() {
    return disk.toString();
  }
}
