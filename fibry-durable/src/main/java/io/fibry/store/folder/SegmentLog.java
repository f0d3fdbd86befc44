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
  private final SegmentPreallocator spares;
  private Segment segment;
  private long capacity; // of the segment
  private int offset; // of the next frame
  private long number; // of the next frame
  private volatile long forced; // the last frame that is on disk; read by others
  private boolean closed; // whether the last frame closed the log
  private boolean unmarked; // when it was opened, no frame said that the last records are on disk
  private List<String> torn = List.of(); // files that were kept aside when the log was opened
  private NavigableMap<Long, Segment> full; // by the last frame of each; thread-safe
  private Runnable sealed = () -> {}; // is told when one more is full
  private Runnable onForce = () -> {};
  private volatile Syncs forces = Syncs.NONE; // read by others, as the next one
  private volatile boolean broken;
  private StoreBrokenException why; // null: it is not, or there was no memory to say so

  private SegmentLog(StorageDirectory disk, SegmentPreallocator spares) {
    this.disk = disk;
    this.spares = spares;
  }

  /** After what was read. */
  static SegmentLog open(StorageDirectory disk, long store, SegmentPreallocator spares, LogReader.FrameReader reader)
      throws IOException {
    for (var name : disk.names()) if (name.endsWith(AtomicFile.UNREADY)) disk.delete(name);
    var log = new SegmentLog(disk, spares);
    var end = LogReader.open(disk, store, reader);
    log.goOn(end);
    for (var name : end.replaced()) disk.delete(name); // now the files that stand for these are known to be whole
    return log;
  }

  private void goOn(LogReader.LogEnd end) throws IOException {
    segment = end.segment();
    capacity = disk.size(segment.name());
    offset = end.offset();
    number = end.number();
    forced = number - 1;
    closed = end.closed();
    unmarked = end.unsure().stream().anyMatch(one -> one.frame().records() > 0);
    torn = end.torn();
    full = new ConcurrentSkipListMap<>(end.full());
    for (var one : end.unsure()) writeAgain(one); // after a force that failed, another one alone does nothing
    if (!full.isEmpty()) disk.sync(full.lastEntry().getValue().name());
    disk.sync(segment.name());
    if (!disk.names().contains(segment.after().name())) spares.begin(segment.after());
  }

  private void writeAgain(LogReader.UnconfirmedFrame one) throws IOException {
    var bytes = ByteBuffer.allocate(one.frame().size());
    disk.read(one.segment().name(), one.offset(), bytes);
    disk.write(one.segment().name(), one.offset(), bytes.flip());
  }

  /** How many bytes a frame may have. */
  long most() {
    return spares.size() - Segment.HEADER - 2 * Frame.SMALLEST;
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
    checkWhole();
    long size = Frame.size(records.size(), records.stream().mapToLong(ByteBuffer::remaining).sum());
    while (!fits(size + Frame.SMALLEST)) seal(time); // so that a mark has room behind it
    return write(Frame.ofRecords(number, forced, time, records));
  }

  /** When the log was opened, no frame said that its last records are on disk. */
  boolean isOpenedUnmarked() {
    return unmarked;
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
  void mark(long time) {
    if (broken || forced < number - 1) return;
    if (fits(Frame.SMALLEST)) write(Frame.ofRecords(number, forced, time, List.of())); // older versions left no room
  }

  boolean isBroken() {
    return broken;
  }

  Syncs forces() {
    return forces;
  }

  List<String> torn() {
    return torn;
  }

  /** Those that are full, by the number of the last frame of each. Thread-safe. */
  NavigableMap<Long, Segment> full() {
    return full;
  }

  /** Called by any thread: returns the number of the last frame that is on disk. */
  long forced() {
    return forced;
  }

  /** Before the first append. */
  void onSealed(Runnable told) {
    sealed = told;
  }

  /** Before the first append. */
  void onForce(Runnable told) {
    onForce = told;
  }

  private void checkWhole() {
    if (broken) throw new StoreBrokenException(why == null ? disk + " is broken" : Lines.message(why), why,
        Outcome.NOT_DONE);
  }

  private boolean fits(long size) {
    return offset + size + Frame.SMALLEST <= capacity; // so that it can be sealed
  }

  private Frame.FramePosition write(Frame frame) {
    var place = segment.place(offset);
    var bytes = frame.bytes(place); // without memory it throws before any byte was written
    try {
      disk.write(segment.name(), offset, bytes);
    } catch (Throwable failure) {
      takeBack(bytes.remaining(), failure);
      throw new StoreWriteException(disk + ": a write to " + segment.name() + " failed, and was taken back", failure);
    }
    offset += bytes.remaining();
    number++;
    closed = frame.kind() == Frame.FrameKind.CLOSED;
    return place;
  }

  private void takeBack(int size, Throwable failure) {
    try {
      disk.write(segment.name(), offset, ByteBuffer.allocate(size));
      disk.sync(segment.name());
    } catch (Throwable again) {
      failure.addSuppressed(again);
      throw broken("a write failed, and could not be taken back", failure);
    }
  }

  /** All frames are on disk. */
  void force() {
    checkWhole();
    long began = System.nanoTime();
    try {
      disk.sync(segment.name());
    } catch (Throwable failure) {
      throw broken("the disk could not say that it has what was written", failure);
    }
    forces = forces.and(System.nanoTime() - began);
    forced = number - 1;
    onForce.run();
  }

  /** Whether the next segment exists. */
  boolean isPrepared() {
    return broken || spares.isReady();
  }

  /** Tries again to have it made, where that failed and it is time. */
  void prepare() {
    if (!broken) spares.retry(segment.after());
  }

  private void seal(long time) {
    var next = segment.after();
    try {
      spares.await(next);
    } catch (StoreWriteException taken) { // no other file can ever be made
      throw broken("another process may own the folder", taken);
    }
    long room = size(next); // before the seal says that it exists
    write(Frame.ofEnd(number, forced, time, Frame.FrameKind.SEALED));
    force();
    try {
      disk.finish(segment.name());
    } catch (IOException failure) {
      throw broken("the log could not go on in " + next.name(), failure);
    }
    full.put(number - 1, segment);
    segment = next;
    capacity = room;
    offset = Segment.HEADER;
    spares.begin(segment.after());
    sealed.run();
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
    if (broken || closed) return;
    if (!fits(Frame.SMALLEST)) seal(time);
    write(Frame.ofEnd(number, forced, time, Frame.FrameKind.CLOSED));
    force();
  }

  private StoreBrokenException broken(String what, Throwable failure) {
    broken = true;
    why = new StoreBrokenException(disk + ": " + what
        + ". The store takes nothing more: close it, see to the disk, and open it again", failure, Outcome.UNKNOWN);
    LogWriter.log(() -> LoggerFactory.getLogger(SegmentLog.class).error("a store is broken", why));
    LogWriter.log(() -> StoreEvents.broken(disk, what, failure));
    return why;
  }

  @Override
  public String toString() {
    return disk.toString();
  }
}
