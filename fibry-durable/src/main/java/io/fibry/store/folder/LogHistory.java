package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreReadException;
import io.fibry.text.Lines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * Reads the turns of a kind, frame by frame, up to the last that is on disk. Files that are
 * rewritten meanwhile keep the order of living records, but frames may become one. So the place to
 * continue is found by the last frame that was seen, and by the last turn that was returned.
 */
final class LogHistory implements Store.History {
  private static final int READ_BYTES = 1 << 18; // bytes

  /** Where a turn is: frames keep their order, though not their number. */
  record HistoryPosition(long frame, long number, String key) {
    static final HistoryPosition BEGINNING = new HistoryPosition(0, 0, "");

    @Override
    public String toString() {
      return frame + "." + number + "." + key;
    }

    static HistoryPosition of(String text, String kind) {
      if (text.isEmpty()) return BEGINNING;
      if (!text.matches("\\d{1,18}\\.\\d{1,18}\\.(?s:.+)"))
        throw new IllegalArgumentException("'" + Lines.line(text) + "' is no place in the history of " + kind);
      var parts = text.split("\\.", 3);
      return new HistoryPosition(Long.parseLong(parts[0]), Long.parseLong(parts[1]), parts[2]);
    }
  }

  private final LogStore store;
  private final StorageDirectory disk;
  private final LogIndex index;
  private final SegmentLog log;
  private final long id; // of the store
  private final String kind;
  private final Semaphore wakeUps = new Semaphore(0); // given by the journal's thread, and by those who close
  private volatile boolean closed;
  private HistoryPosition last; // the turn that was answered last
  private long lastRead; // the frame that was read last
  private long moves = -1; // the moves of the index when the two fields below were found; -1 if they are to be found
  private int segment; // where the next frame is
  private int offset;
  private boolean mayRepeat; // whether returned turns may come again, since files have moved

  LogHistory(LogStore store, StorageDirectory disk, LogIndex index, SegmentLog log, long id, String kind,
      HistoryPosition after) {
    this.store = store;
    this.disk = disk;
    this.index = index;
    this.log = log;
    this.id = id;
    this.kind = kind;
    this.last = after;
    this.lastRead = Math.max(0, after.frame - 1);
  }

  @Override
  public List<Store.StoredTurn> take() throws InterruptedException {
    while (true) {
      wakeUps.drainPermits(); // frames that come from now on are told again
      long until = log.lastSynced();
      var found = readUntil(until);
      if (!found.isEmpty()) return found;
      if (lastRead >= until) wakeUps.acquire();
    }
  }

  @Override
  public List<Store.StoredTurn> poll() {
    store.sync();
    long until = log.lastSynced();
    var found = readUntil(until);
    while (found.isEmpty() && lastRead < until) found = readUntil(until);
    return found;
  }

  private List<Store.StoredTurn> readUntil(long until) {
    if (closed) throw new StoreClosedException("the history of " + kind + " in " + store + " is closed");
    store.checkOpen();
    return lastRead < until ? index.withStablePlaces(() -> read(until)) : List.of();
  }

  /** Called by any thread when there is more to read, or the history is closed. */
  void wake() {
    if (wakeUps.availablePermits() == 0) wakeUps.release();
  }

  @Override
  public void close() {
    closed = true;
    store.removeHistory(this);
    wake();
  }

  // ---- reading

  private List<Store.StoredTurn> read(long until) {
    if (moves != index.relocationCount()) seek();
    try {
      return frames(until);
    } catch (IOException failure) {
      throw new StoreReadException(
          "the history of " + kind + " cannot be read from " + store + ": " + Lines.thrown(failure),
          failure);
    }
  }

  /** One more may get full meanwhile: it is looked for last, so it is not passed over. */
  private void seek() {
    var newest = log.fullSegments().lastEntry();
    var file = log.fullSegments().higherEntry(lastRead);
    segment = file != null ? file.getValue().number() : newest == null ? 1 : newest.getValue().number() + 1;
    offset = Segment.HEADER;
    mayRepeat = last != HistoryPosition.BEGINNING;
    moves = index.relocationCount();
  }

  private List<Store.StoredTurn> frames(long until) throws IOException {
    var found = new ArrayList<Store.StoredTurn>();
    var bytes = bytes(READ_BYTES);
    int begun = offset;
    while (lastRead < until) {
      var frame = Frame.of(new Frame.FramePosition(id, segment, offset), bytes.position(offset - begun));
      if (frame == null && offset > begun) return found; // the rest comes next time
      if (frame == null) frame = large(bytes);
      offset += (int) frame.size();
      if (frame.kind() == Frame.FrameKind.SEALED) {
        moves = -1; // the next one may stand for several
        lastRead = Math.max(lastRead, frame.number());
        return found;
      }
      if (frame.number() > lastRead) add(frame, found);
      lastRead = Math.max(lastRead, frame.number());
      if (offset - begun >= bytes.limit()) return found;
    }
    return found;
  }

  private ByteBuffer bytes(int size) throws IOException {
    var bytes = ByteBuffer.allocate(size);
    disk.read(Segment.nameOf(segment), offset, bytes);
    return bytes.flip();
  }

  private Frame large(ByteBuffer beginning) throws IOException {
    long size = beginning.limit() < Frame.MIN_SIZE ? 0 : Frame.sizeFrom(beginning.getInt(0));
    var frame = size <= READ_BYTES || size > log.maxFrameSize() ? null
        : Frame.of(new Frame.FramePosition(id, segment, offset), bytes((int) size));
    if (frame == null) throw new StoreDamagedException(store + ": " + Segment.nameOf(segment) + " is damaged at "
        + offset + ", where the history of " + kind + " goes on; put back a copy of the file");
    return frame;
  }

  private void add(Frame frame, List<Store.StoredTurn> found) {
    int begun = found.size();
    int answered = -1;
    for (var record : frame.records()) {
      var stored = LogRecord.of(record);
      if (stored.type() == LogRecord.RecordType.MESSAGE || stored.type() == LogRecord.RecordType.SNAPSHOT
          || !stored.actor().kind().equals(kind))
        continue;
      var place = new HistoryPosition(frame.number(), stored.number(), stored.actor().key());
      if (place.number == last.number && place.key.equals(last.key)) answered = found.size();
      found.add(new Store.StoredTurn(place.toString(), place.key, place.number, Instant.ofEpochMilli(stored.millis()),
          stored.type() == LogRecord.RecordType.WHOLE, stored.body()));
    }
    if (mayRepeat && answered >= 0) found.subList(begun, answered + 1).clear();
    mayRepeat = false;
    if (!found.isEmpty()) last = HistoryPosition.of(found.getLast().offset(), kind);
  }
}
