package io.fibry.store.folder;

import io.fibry.store.folder.StoreCheck.Defect;
import io.fibry.text.Lines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads what is whole of a log that may be damaged, and notes what is not. It changes nothing.
 * Reads whole frames, and the whole records in frames that are not whole. What {@link LogReader}
 * takes for a torn end is one here, too.
 */
final class DamagedLogReader {
  interface RecordReader {
    /** A record that is whole. */
    void read(long frame, long time, LogRecord stored, ByteBuffer record) throws IOException;

    /** The end of a file: all frames before this one were in it, or in those before. */
    void end(Segment file, int size, long frame) throws IOException;
  }

  private final StorageDirectory disk;
  private final RecordReader reader;
  private final List<Defect> defects = new ArrayList<>();
  private final List<String> tornFiles = new ArrayList<>();
  private Optional<Defect> endDoubt = Optional.empty();
  private long store;
  private long number = 1; // of the frame that comes
  private long frames;
  private long time; // the time of the last whole frame, or 0 if there is none
  private boolean closed;
  private boolean isGapNoted; // whether the gap in front of the next frame was noted

  private DamagedLogReader(StorageDirectory disk, RecordReader reader) {
    this.disk = disk;
    this.reader = reader;
  }

  static DamagedLogReader read(StorageDirectory disk, RecordReader reader) throws IOException {
    var remains = new DamagedLogReader(disk, reader);
    remains.read();
    return remains;
  }

  List<Defect> defects() {
    return defects;
  }

  List<String> tornFiles() {
    return tornFiles;
  }

  Optional<Defect> endDoubt() {
    return endDoubt;
  }

  long frames() {
    return frames;
  }

  boolean closed() {
    return closed;
  }

  private void note(String file, long offset, String what) {
    defects.add(new Defect(file, offset, Optional.empty(), what));
    isGapNoted = true;
  }

  private void read() throws IOException {
    for (var name : disk.names()) if (name.endsWith(".torn")) tornFiles.add(name);
    store = store();
    var segments = Segment.all(disk, store, replaced -> {});
    if (segments.isEmpty()) note(Segment.nameOf(1), 0, "it is missing, as all others");
    boolean full = true; // the one before
    int next = 1;
    for (int i = 0; i < segments.size(); i++) {
      var segment = segments.get(i);
      if (segment.first() > next) note(Segment.nameOf(next), 0, "it is missing, and " + segment.name() + " is there");
      next = segment.number() + 1;
      var file = segment.read(disk);
      String differs = segment.difference(file, file.limit());
      if (differs != null) note(segment.name(), 0, differs);
      if (!full && isUsed(file)) note(segment.name(), 0, "it goes on with the log, and the one before it is not full");
      full = readFrames(segment, file, segments.subList(i + 1, segments.size()));
      reader.end(segment, file.limit(), number);
    }
    if (full && !segments.isEmpty()) note(Segment.nameOf(next), 0, "it is missing, and the one before it was full");
  }

  /** Returns the id in the file that makes the folder a store, or else in a file of the log. */
  private long store() throws IOException {
    try {
      return StoreIdFile.read(disk);
    } catch (RuntimeException | IOException failure) {
      note(StoreIdFile.NAME, 0, "it is missing, or damaged: " + Lines.message(failure));
    }
    for (int one : Segment.numbers(disk)) {
      var header = ByteBuffer.allocate(Segment.HEADER);
      disk.read(Segment.nameOf(one), 0, header);
      if (!header.hasRemaining() && Segment.isWhole(header)) return header.getLong(12);
    }
    return 0;
  }

  private boolean isAnyUsed(List<Segment> later) throws IOException {
    for (var one : later) if (isUsed(one.read(disk))) return true;
    return false;
  }

  private static boolean isUsed(ByteBuffer file) {
    return LogReader.lastNonZero(file) >= Segment.HEADER;
  }

  /** Returns true if the log continues in the next file. */
  private boolean readFrames(Segment segment, ByteBuffer file, List<Segment> later) throws IOException {
    int at = Segment.HEADER;
    boolean looked = false; // whether later files were looked into, which takes long
    boolean goesOn = false;
    while (true) {
      var frame = frame(segment, file, at);
      if (frame == null) {
        goesOn = looked ? goesOn : isAnyUsed(later);
        looked = true;
        int next = nextFrame(segment, file, at);
        if (next < 0) return isFullWithoutEnd(segment, file, at, goesOn);
        if (!goesOn && !segment.compact() && !isSyncedBefore(segment, file, next))
          return isFullWithoutEnd(segment, file, at, false);
        rescue(segment, file, at, next);
        at = next;
        continue;
      }
      if (frame.number() > number && !segment.compact() && !isGapNoted)
        note(segment.name(), at, "frames " + number + " to " + (frame.number() - 1) + " are missing in front of it");
      frames++;
      time = frame.time();
      isGapNoted = false;
      number = frame.number() + 1;
      closed = frame.kind() == Frame.FrameKind.CLOSED;
      if (frame.kind() == Frame.FrameKind.SEALED) return true;
      for (var record : frame.records()) reader.read(frame.number(), frame.time(), LogRecord.of(record), record);
      at += (int) frame.size();
    }
  }

  /** Returns null if no whole frame is there that belongs here. */
  private Frame frame(Segment segment, ByteBuffer file, int at) {
    if (at > file.limit() - Frame.MIN_SIZE) return null;
    var frame = Frame.of(segment.place(at), file.duplicate().position(at));
    return frame == null || frame.number() < number ? null : frame;
  }

  /** Returns where the next whole frame is; negative if there is none. */
  private int nextFrame(Segment segment, ByteBuffer file, int from) {
    for (int at = from + Frame.ALIGNMENT; at <= file.limit() - Frame.MIN_SIZE; at += Frame.ALIGNMENT) {
      long claimed = file.getLong(at + 8);
      if (file.getInt(at) != 0 && claimed >= number && claimed - number <= Integer.MAX_VALUE
          && frame(segment, file, at) != null)
        return at;
    }
    return -1;
  }

  /** One from there on says that the frame which is missing was on disk. */
  private boolean isSyncedBefore(Segment segment, ByteBuffer file, int from) {
    for (int at = from; at >= 0; at = nextFrame(segment, file, at))
      if (frame(segment, file, at).lastSynced() >= number) return true;
    return false;
  }

  private boolean isFullWithoutEnd(Segment segment, ByteBuffer file, int at, boolean goesOn) throws IOException {
    int last = LogReader.lastNonZero(file);
    if (goesOn || segment.compact()) {
      rescue(segment, file, at, Math.max(at, last + 1));
      number++; // of its end
      return segment.compact() || goesOn;
    }
    if (last >= at) {
      endDoubt =
          Optional.of(new Defect(segment.name(), at, Optional.empty(), LogReader.describeTornEnd(last + 1 - at, time)));
      closed = false;
    }
    return false;
  }

  /** Records of frames that are not whole. They get the number of the first. */
  private void rescue(Segment segment, ByteBuffer file, int from, int to) throws IOException {
    int saved = 0;
    for (int at = from; at < to;) {
      int length = to - at < Frame.RECORDS_OFFSET ? 0 : file.getInt(at);
      long size = length < Frame.RECORDS_OFFSET - 8 ? to - at : Math.min(Frame.sizeFrom(length), to - at);
      saved += rescueRecords(segment, file, at + Frame.RECORDS_OFFSET, (int) (at + size));
      at += (int) size;
    }
    note(segment.name(), from, "the " + (to - from) + " bytes from here on are not as they were written; " + saved
        + " records of them are whole");
    if (saved > 0) number++;
  }

  private int rescueRecords(Segment segment, ByteBuffer file, int from, int to) throws IOException {
    int saved = 0;
    for (int at = from; at + Integer.BYTES < to;) {
      int length = file.getInt(at);
      if (length <= 0 || length > to - at - Integer.BYTES) return saved;
      var record = file.slice(at + Integer.BYTES, length);
      try {
        var stored = LogRecord.readChecked(record);
        if (stored == null) noteLost(segment, at, LogRecord.of(record));
        else {
          reader.read(number, 0, stored, record);
          saved++;
        }
      } catch (RuntimeException unreadable) { // it does not even look like one
        return saved;
      }
      at += Integer.BYTES + length;
    }
    return saved;
  }

  /** Notes a record in which a single byte is wrong, so that its fields are probably right. */
  private void noteLost(Segment segment, int at, LogRecord stored) {
    String what = stored.type() == LogRecord.RecordType.MESSAGE ? "a message for it"
        : (stored.type() == LogRecord.RecordType.SNAPSHOT ? "the snapshot at turn " : "turn ") + stored.number();
    defects.add(new Defect(segment.name(), at, Optional.of(stored.actor()), what + " is not as it was written"));
  }
}
