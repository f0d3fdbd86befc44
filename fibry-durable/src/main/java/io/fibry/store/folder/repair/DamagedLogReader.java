package io.fibry.store.folder.repair;

import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.StoreCheck.Defect;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.LogReader;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.folder.log.StoreIdFile;
import io.fibry.text.Lines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the intact parts of a log that may be damaged, and lists the defects. It changes no file.
 * It reads the intact frames, and the intact records in damaged frames. A torn end, as
 * {@link LogReader} defines it, is reported as {@link #unconfirmedEnd}, not as a defect.
 */
final class DamagedLogReader {
  interface RecordReader {
    /**
     * Called for each intact record.
     *
     * @param frameNumber the number of its frame
     * @param time the time of its frame in milliseconds since 1970; 0 if the frame is damaged
     * @param record the parsed record
     * @param bytes the bytes of the record
     */
    void read(long frameNumber, long time, LogRecord record, ByteBuffer bytes) throws IOException;

    /**
     * Called when a segment has been read to its end. All frames with a smaller number than
     * {@code nextFrame} are in it or in earlier segments.
     *
     * @param fileSize the size of the file in bytes
     */
    void onSegmentEnd(Segment segment, int fileSize, long nextFrame) throws IOException;
  }

  private final StorageDirectory disk;
  private final RecordReader reader;
  private final List<Defect> defects = new ArrayList<>();
  private final List<String> tornFiles = new ArrayList<>();
  private Optional<Defect> unconfirmedEnd = Optional.empty();
  private long storeId;
  private long nextFrame = 1; // the number that the next frame should have
  private long frameCount; // intact frames
  private long time; // milliseconds since 1970 of the last intact frame, or 0 if there is none
  private boolean wasClosed; // whether the last intact frame says that the store was closed
  // whether a defect was found after the last intact frame; missing frames are then not reported
  private boolean hasDefectSinceFrame;

  private DamagedLogReader(StorageDirectory disk, RecordReader reader) {
    this.disk = disk;
    this.reader = reader;
  }

  static DamagedLogReader read(StorageDirectory disk, RecordReader reader) throws IOException {
    var damagedLog = new DamagedLogReader(disk, reader);
    damagedLog.read();
    return damagedLog;
  }

  List<Defect> defects() {
    return defects;
  }

  List<String> tornFiles() {
    return tornFiles;
  }

  Optional<Defect> unconfirmedEnd() {
    return unconfirmedEnd;
  }

  long frameCount() {
    return frameCount;
  }

  boolean wasClosed() {
    return wasClosed;
  }

  private void addDefect(String fileName, long offset, String problem) {
    defects.add(new Defect(fileName, offset, Optional.empty(), problem));
    hasDefectSinceFrame = true;
  }

  private void read() throws IOException {
    for (var name : disk.names()) if (name.endsWith(".torn")) tornFiles.add(name);
    storeId = readStoreId();
    var segments = Segment.all(disk, storeId, replaced -> {});
    if (segments.isEmpty()) addDefect(Segment.nameOf(1), 0, "it is missing, as all other segments are");
    boolean isContinued = true; // whether the log continues after the previous segment
    int nextSegment = 1;
    for (int i = 0; i < segments.size(); i++) {
      var segment = segments.get(i);
      if (segment.firstReplaced() > nextSegment)
        addDefect(Segment.nameOf(nextSegment), 0, "it is missing, and " + segment.name() + " exists");
      nextSegment = segment.number() + 1;
      var content = segment.read(disk);
      String difference = segment.difference(content, content.limit());
      if (difference != null) addDefect(segment.name(), 0, difference);
      if (!isContinued && hasContent(content))
        addDefect(segment.name(), 0, "it continues the log, although the segment before it is not sealed");
      isContinued = readFrames(segment, content, segments.subList(i + 1, segments.size()));
      reader.onSegmentEnd(segment, content.limit(), nextFrame);
    }
    if (isContinued && !segments.isEmpty())
      addDefect(Segment.nameOf(nextSegment), 0, "it is missing, and the segment before it was sealed");
  }

  /**
   * Returns the id of the store from the file {@code store.id}. If this file is missing or damaged,
   * returns the id in the header of the first readable segment, or 0 if there is none.
   */
  private long readStoreId() throws IOException {
    try {
      return StoreIdFile.read(disk);
    } catch (RuntimeException | IOException failure) {
      addDefect(StoreIdFile.NAME, 0, "it is missing, or damaged: " + Lines.message(failure));
    }
    for (int number : Segment.numbers(disk)) {
      var header = ByteBuffer.allocate(Segment.HEADER);
      disk.read(Segment.nameOf(number), 0, header);
      if (!header.hasRemaining() && Segment.isIntact(header)) return header.getLong(12);
    }
    return 0;
  }

  private boolean hasContentInAny(List<Segment> laterSegments) throws IOException {
    for (var segment : laterSegments) if (hasContent(segment.read(disk))) return true;
    return false;
  }

  /** Returns whether the segment has more than its header and zeros. */
  private static boolean hasContent(ByteBuffer content) {
    return LogReader.lastNonZero(content) >= Segment.HEADER;
  }

  /** Reads the frames of a segment. Returns whether the log continues in the next segment. */
  private boolean readFrames(Segment segment, ByteBuffer content, List<Segment> laterSegments) throws IOException {
    int offset = Segment.HEADER;
    boolean hasCheckedLater = false; // later segments are read only once, because that takes long
    boolean isContinuedLater = false;
    while (true) {
      var frame = frameAt(segment, content, offset);
      if (frame == null) {
        isContinuedLater = hasCheckedLater ? isContinuedLater : hasContentInAny(laterSegments);
        hasCheckedLater = true;
        int nextOffset = findNextFrame(segment, content, offset);
        if (nextOffset < 0) return endWithoutSeal(segment, content, offset, isContinuedLater);
        if (!isContinuedLater && !segment.isCompact() && !isMissingFrameConfirmed(segment, content, nextOffset))
          return endWithoutSeal(segment, content, offset, false);
        readRecordsBetween(segment, content, offset, nextOffset);
        offset = nextOffset;
        continue;
      }
      if (frame.number() > nextFrame && !segment.isCompact() && !hasDefectSinceFrame)
        addDefect(segment.name(), offset,
            "frames " + nextFrame + " to " + (frame.number() - 1) + ", which should be before this frame, are missing");
      frameCount++;
      time = frame.time();
      hasDefectSinceFrame = false;
      nextFrame = frame.number() + 1;
      wasClosed = frame.kind() == Frame.FrameKind.CLOSED;
      if (frame.kind() == Frame.FrameKind.SEALED) return true;
      for (var record : frame.records()) reader.read(frame.number(), frame.time(), LogRecord.of(record), record);
      offset += (int) frame.size();
    }
  }

  /**
   * Returns the intact frame at this offset. Returns null if there is none, or if its number is
   * less than {@code nextFrame}.
   */
  private Frame frameAt(Segment segment, ByteBuffer content, int offset) {
    if (offset > content.limit() - Frame.MIN_SIZE) return null;
    var frame = Frame.of(segment.position(offset), content.duplicate().position(offset));
    return frame == null || frame.number() < nextFrame ? null : frame;
  }

  /** Returns the offset of the next intact frame in the segment; -1 if there is none. */
  private int findNextFrame(Segment segment, ByteBuffer content, int start) {
    for (int offset = start + Frame.ALIGNMENT; offset <= content.limit() - Frame.MIN_SIZE; offset += Frame.ALIGNMENT) {
      long claimedNumber = content.getLong(offset + 8);
      if (content.getInt(offset) != 0 && claimedNumber >= nextFrame && claimedNumber - nextFrame <= Integer.MAX_VALUE
          && frameAt(segment, content, offset) != null)
        return offset;
    }
    return -1;
  }

  /** Returns whether a frame at or after this offset says that the missing frame was on disk. */
  private boolean isMissingFrameConfirmed(Segment segment, ByteBuffer content, int start) {
    for (int offset = start; offset >= 0; offset = findNextFrame(segment, content, offset))
      if (frameAt(segment, content, offset).lastSynced() >= nextFrame) return true;
    return false;
  }

  /**
   * Ends the reading of a segment without an intact seal. After the offset, the segment has no
   * intact frame, or only frames that do not prove that the missing frame was on disk. If the
   * segment is compact, or the log continues in a later segment, this is a defect. Otherwise any
   * bytes at or after the offset are a torn end. Returns whether the log continues.
   */
  private boolean endWithoutSeal(Segment segment, ByteBuffer content, int offset, boolean isContinuedLater)
      throws IOException {
    int lastContent = LogReader.lastNonZero(content);
    if (isContinuedLater || segment.isCompact()) {
      readRecordsBetween(segment, content, offset, Math.max(offset, lastContent + 1));
      nextFrame++; // skips the number of the lost seal
      return segment.isCompact() || isContinuedLater;
    }
    if (lastContent >= offset) {
      unconfirmedEnd =
          Optional.of(new Defect(segment.name(), offset, Optional.empty(),
              LogReader.describeTornEnd(lastContent + 1 - offset, time)));
      wasClosed = false;
    }
    return false;
  }

  /**
   * Reads the intact records of damaged frames between two offsets. All these records get the
   * number of the first missing frame.
   */
  private void readRecordsBetween(Segment segment, ByteBuffer content, int start, int end) throws IOException {
    int recordCount = 0;
    for (int offset = start; offset < end;) {
      int length = end - offset < Frame.RECORDS_OFFSET ? 0 : content.getInt(offset);
      long size = length < Frame.RECORDS_OFFSET - 8 ? end - offset : Math.min(Frame.sizeFrom(length), end - offset);
      recordCount += readIntactRecords(segment, content, offset + Frame.RECORDS_OFFSET, (int) (offset + size));
      offset += (int) size;
    }
    addDefect(segment.name(), start, "the " + (end - start) + " bytes from here on are not as they were written; "
        + recordCount + " records in them are intact");
    if (recordCount > 0) nextFrame++;
  }

  private int readIntactRecords(Segment segment, ByteBuffer content, int start, int end) throws IOException {
    int recordCount = 0;
    for (int offset = start; offset + Integer.BYTES < end;) {
      int length = content.getInt(offset);
      if (length <= 0 || length > end - offset - Integer.BYTES) return recordCount;
      var bytes = content.slice(offset + Integer.BYTES, length);
      try {
        var record = LogRecord.readChecked(bytes);
        if (record == null) addRecordDefect(segment, offset, LogRecord.of(bytes));
        else {
          reader.read(nextFrame, 0, record, bytes);
          recordCount++;
        }
      } catch (RuntimeException unreadable) { // the bytes do not have the form of a record
        return recordCount;
      }
      offset += Integer.BYTES + length;
    }
    return recordCount;
  }

  /**
   * Reports a record whose checksum is wrong. Its fields could be parsed, so its actor and number
   * are probably right.
   */
  private void addRecordDefect(Segment segment, int offset, LogRecord record) {
    String recordText = record.type() == LogRecord.RecordType.MESSAGE ? "a message for it"
        : (record.type() == LogRecord.RecordType.SNAPSHOT ? "the snapshot at turn " : "turn ") + record.number();
    defects
        .add(new Defect(segment.name(), offset, Optional.of(record.actor()), recordText + " is not as it was written"));
  }
}
