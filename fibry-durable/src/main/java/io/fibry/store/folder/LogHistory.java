package io.fibry.store.folder;

import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreReadException;
import io.fibry.store.folder.index.LogIndex;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.HistoryPosition;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.folder.log.SegmentLog;
import io.fibry.store.spi.HistoryCursor;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Lines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Reads the turns of a kind, frame by frame, up to the last frame that is on disk. Compaction may
 * rewrite files while the history is read. Live records then keep their order, but several frames
 * may become one. So the reader finds its position by the last frame that it read and the last turn
 * that it returned.
 */
final class LogHistory extends HistoryCursor {
  private static final int READ_BYTES = 1 << 18;

  private final LogStore store;
  private final StorageDirectory disk;
  private final LogIndex index;
  private final SegmentLog log;
  private final long storeId; // a part of the checksum of each frame
  private final String kind;
  private HistoryPosition lastReturned; // the turn that was returned last
  private long lastReadFrame; // the number of the frame that was read last
  private long seenRelocations = -1; // relocation count at the last `seek`, or -1 if the next read must call `seek`
  private int segment; // the segment that has the next frame
  private int offset; // the offset of the next frame
  private boolean mayRepeat; // whether the next frame may contain turns that were already returned

  LogHistory(LogStore store, StorageDirectory disk, LogIndex index, SegmentLog log, long storeId, String kind,
      HistoryPosition after, Collection<LogHistory> openHistories) {
    super("the history of " + kind + " in " + store, openHistories);
    this.store = store;
    this.disk = disk;
    this.index = index;
    this.log = log;
    this.storeId = storeId;
    this.kind = kind;
    this.lastReturned = after;
    this.lastReadFrame = Math.max(0, after.frameNumber() - 1);
  }

  @Override
  public List<StoreBackend.StoredTurn> poll() {
    store.sync();
    return read();
  }

  @Override
  protected List<StoreBackend.StoredTurn> read() {
    long lastSynced = log.lastSynced();
    var turns = readUntil(lastSynced);
    while (turns.isEmpty() && lastReadFrame < lastSynced) turns = readUntil(lastSynced);
    return turns;
  }

  private List<StoreBackend.StoredTurn> readUntil(long lastFrame) {
    checkOpen();
    store.checkOpen();
    return lastReadFrame < lastFrame ? index.withStablePositions(() -> read(lastFrame)) : List.of();
  }

  // ---- reading

  private List<StoreBackend.StoredTurn> read(long lastFrame) {
    if (seenRelocations != index.relocationCount()) seek();
    try {
      return readFrames(lastFrame);
    } catch (IOException failure) {
      throw new StoreReadException(
          "the history of " + kind + " cannot be read from " + store + ": " + Lines.thrown(failure),
          failure);
    }
  }

  /**
   * Sets the position to the beginning of the segment that has the next frame. Reads
   * {@code newestSealed} before the lookup, so that a segment that is sealed between these two
   * steps is not skipped.
   */
  private void seek() {
    var newestSealed = log.sealedSegments().lastEntry();
    var next = log.sealedSegments().higherEntry(lastReadFrame);
    segment = next != null ? next.getValue().number() : newestSealed == null ? 1 : newestSealed.getValue().number() + 1;
    offset = Segment.HEADER;
    mayRepeat = lastReturned != HistoryPosition.BEGINNING;
    seenRelocations = index.relocationCount();
  }

  private List<StoreBackend.StoredTurn> readFrames(long lastFrame) throws IOException {
    var turns = new ArrayList<StoreBackend.StoredTurn>();
    var bytes = readBytes(READ_BYTES);
    int start = offset;
    while (lastReadFrame < lastFrame) {
      var frame = Frame.of(new Frame.FramePosition(storeId, segment, offset), bytes.position(offset - start));
      if (frame == null && offset > start) return turns; // incomplete: the next call reads it
      if (frame == null) frame = readLargeFrame(bytes);
      offset += (int) frame.size();
      if (frame.kind() == Frame.FrameKind.SEALED) {
        seenRelocations = -1; // `seek` finds the next segment, which may replace several segments
        lastReadFrame = Math.max(lastReadFrame, frame.number());
        return turns;
      }
      if (frame.number() > lastReadFrame) add(frame, turns);
      lastReadFrame = Math.max(lastReadFrame, frame.number());
      if (offset - start >= bytes.limit()) return turns;
    }
    return turns;
  }

  private ByteBuffer readBytes(int size) throws IOException {
    var bytes = ByteBuffer.allocate(size);
    disk.read(Segment.nameOf(segment), offset, bytes);
    return bytes.flip();
  }

  /** Reads a frame that is larger than one read. */
  private Frame readLargeFrame(ByteBuffer beginning) throws IOException {
    long size = beginning.limit() < Frame.MIN_SIZE ? 0 : Frame.sizeFrom(beginning.getInt(0));
    var frame = size <= READ_BYTES || size > log.maxFrameSize() ? null
        : Frame.of(new Frame.FramePosition(storeId, segment, offset), readBytes((int) size));
    if (frame == null) throw new StoreDamagedException(store + ": " + Segment.nameOf(segment) + " is damaged at "
        + offset + ", where the history of " + kind + " continues; restore the file from a backup");
    return frame;
  }

  /** Adds the turns of a frame to the list, except for turns that were already returned. */
  private void add(Frame frame, List<StoreBackend.StoredTurn> turns) {
    int start = turns.size();
    int lastReturnedIndex = -1;
    for (var bytes : frame.records()) {
      var record = LogRecord.of(bytes);
      if (record.type() == LogRecord.RecordType.MESSAGE || record.type() == LogRecord.RecordType.SNAPSHOT
          || !record.actor().kind().equals(kind))
        continue;
      var position = new HistoryPosition(frame.number(), record.number(), record.actor().key());
      if (position.turnNumber() == lastReturned.turnNumber() && position.key().equals(lastReturned.key()))
        lastReturnedIndex = turns.size();
      turns.add(new StoreBackend.StoredTurn(position.toString(), position.key(), position.turnNumber(),
          Instant.ofEpochMilli(record.millis()), record.type() == LogRecord.RecordType.FULL_STATE, record.body()));
    }
    if (mayRepeat && lastReturnedIndex >= 0) turns.subList(start, lastReturnedIndex + 1).clear();
    mayRepeat = false;
    if (!turns.isEmpty()) lastReturned = HistoryPosition.of(turns.getLast().offset(), kind);
  }
}
