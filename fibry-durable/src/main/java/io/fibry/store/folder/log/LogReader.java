package io.fibry.store.folder.log;

import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import io.fibry.text.SafeLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Reads a log from its first frame to its last.
 *
 * <p>Bytes after the last intact frame are damage if a later frame says that they were on disk. The
 * log is then refused, and no file is changed. Otherwise the bytes are a torn end: a commit that
 * was cut off before its senders were notified. The bytes are moved to a file beside the log, and
 * the log continues in their place.
 *
 * <p>If the last commit was acknowledged and later damaged, it looks like a torn end, unless a mark
 * ({@link SegmentLog#markSynced}) was written after it. Therefore the turns of a torn end are in
 * doubt.
 */
public final class LogReader {
  public interface FrameReader {
    /** @param content the bytes from the frame on; valid only during the call */
    void read(Frame.FramePosition position, Frame.FrameHeader frame, ByteBuffer content);
  }

  /**
   * The end of a log.
   *
   * @param segment the segment of the next frame
   * @param offset the offset of the next frame
   * @param nextFrame the number of the next frame
   * @param sealedSegments the sealed segments by the number of their last frame
   * @param wasClosed whether the store was closed at its last use
   * @param unconfirmedFrames the last frames, which may be only in the memory of the machine, not
   * on disk
   * @param tornFiles the names of the files that a torn end was moved to
   * @param replacedFiles the names of the segments that a compacted segment replaces
   */
  record LogEnd(Segment segment, int offset, long nextFrame, NavigableMap<Long, Segment> sealedSegments,
      boolean wasClosed,
      List<UnconfirmedFrame> unconfirmedFrames, List<String> tornFiles, List<String> replacedFiles) {}

  /** A frame that no later frame confirms to be on disk. */
  record UnconfirmedFrame(Segment segment, int offset, Frame.FrameHeader frame) {}

  private static final int CHECKED_BYTES = 1 << 16; // bytes that are checked at the beginning of an unused segment

  private final StorageDirectory disk;
  private final long storeId;
  private final FrameReader reader;
  private final FileWindow window;
  private long nextFrame = 1; // the number of the next frame
  private long time; // milliseconds since 1970 of the last intact frame, or 0 if there is none
  private boolean wasClosed;
  private final NavigableMap<Long, Segment> sealedSegments = new TreeMap<>();
  private final ArrayDeque<UnconfirmedFrame> unconfirmedFrames = new ArrayDeque<>();
  private final List<String> replacedFiles = new ArrayList<>();

  private LogReader(StorageDirectory disk, long storeId, FrameReader reader) {
    this.disk = disk;
    this.storeId = storeId;
    this.reader = reader;
    this.window = new FileWindow(disk);
  }

  static LogEnd open(StorageDirectory disk, long storeId, FrameReader reader) throws IOException {
    return new LogReader(disk, storeId, reader).read();
  }

  private LogEnd read() throws IOException {
    var segments = Segment.all(disk, storeId, replacedFiles::add);
    for (int i = 0; i < segments.size(); i++) {
      var segment = segments.get(i);
      if (segment.firstReplaced() != nextSegment(sealedSegments))
        throw damaged(new Segment(storeId, nextSegment(sealedSegments)),
            "it is missing, and segment " + segments.getLast().number() + " exists");
      open(segment);
      int end = readFrames(segment);
      if (end >= 0) return finishAt(segment, end, segments.subList(i + 1, segments.size()));
      sealedSegments.put(nextFrame - 1, segment);
    }
    throw damaged(new Segment(storeId, nextSegment(sealedSegments)),
        segments.isEmpty() ? "it is missing, as all other segments are"
            : "it is missing, and the segment before it was sealed");
  }

  private static int nextSegment(NavigableMap<Long, Segment> sealed) {
    return sealed.isEmpty() ? 1 : sealed.lastEntry().getValue().number() + 1;
  }

  private void open(Segment segment) throws IOException {
    window.open(segment.name());
    var header = window.bytesAt(0, Segment.HEADER).slice();
    String difference = segment.difference(header, window.size());
    if (difference != null) throw damaged(segment, difference);
  }

  /**
   * Reads the frames of a segment. Returns the offset after the last frame, or -1 if the log
   * continues in the next segment.
   */
  private int readFrames(Segment segment) throws IOException {
    int offset = Segment.HEADER;
    while (true) {
      var position = segment.position(offset);
      var content = window.frame(offset);
      var frame = Frame.readHeader(position, content);
      if (frame == null) return offset;
      if (frame.number() != nextFrame && (frame.number() < nextFrame || !segment.isCompact())) throw damaged(segment,
          "frame " + frame.number() + " is at " + offset + ", where " + nextFrame + " was expected");
      nextFrame = frame.number() + 1;
      time = frame.time();
      wasClosed = frame.kind() == Frame.FrameKind.CLOSED;
      while (!unconfirmedFrames.isEmpty() && unconfirmedFrames.peek().frame.number() <= frame.lastSynced())
        unconfirmedFrames.poll();
      if (!segment.isCompact()) unconfirmedFrames.add(new UnconfirmedFrame(segment, offset, frame));
      if (frame.kind() == Frame.FrameKind.SEALED) return -1;
      if (frame.kind() == Frame.FrameKind.RECORDS) reader.read(position, frame, content);
      offset += frame.size();
    }
  }

  /** Checks the bytes after the last frame, and moves a torn end to a file of its own. */
  private LogEnd finishAt(Segment segment, int offset, List<Segment> laterSegments) throws IOException {
    boolean isTorn = !window.isBlank(offset, window.size());
    var content = isTorn ? segment.read(disk).position(offset) : null;
    if (isTorn) checkTorn(segment, content);
    if (segment.isCompact()) throw damaged(segment, "its frames end at " + offset + ", and it is not sealed");
    for (var laterSegment : laterSegments) checkUnused(laterSegment, segment, offset, isTorn);
    var unconfirmed = List.copyOf(unconfirmedFrames);
    if (!isTorn)
      return new LogEnd(segment, offset, nextFrame, sealedSegments, wasClosed, unconfirmed, List.of(), replacedFiles);
    int size = lastNonZero(content) + 1 - offset;
    String tornFile = moveTornEnd(segment, offset, content.slice(offset, size));
    LoggerCall.run(() -> SafeLogger.of("io.fibry.store.folder.LogReader").warn(
        "{}: {} at {}: {}. The bytes were moved to {}", disk, segment.name(), offset, describeTornEnd(size, time),
        tornFile));
    return new LogEnd(segment, offset, nextFrame, sealedSegments, false, unconfirmed, List.of(tornFile),
        replacedFiles);
  }

  /**
   * Checks that a segment that was created in advance has no frames. If the last segment has no
   * torn end, only the beginning of the unused segment is checked: a later frame is acknowledged
   * only after the segment's first frame is on disk.
   */
  private void checkUnused(Segment unusedSegment, Segment lastSegment, int offset, boolean isTorn) throws IOException {
    open(unusedSegment);
    if (!window.isBlank(Segment.HEADER, isTorn ? window.size() : CHECKED_BYTES)) throw damaged(lastSegment,
        "no intact frame is at " + offset + ", but " + unusedSegment.name() + " continues the log");
  }

  /**
   * Describes a torn end.
   *
   * @param time the time of the last intact frame in milliseconds since 1970; 0 if there is none
   */
  public static String describeTornEnd(int bytes, long time) {
    return "the last " + bytes + " bytes of the log are a commit that was cut off and never acknowledged, or a commit "
        + "that was damaged afterwards: no later bytes say that it was on disk. The turns "
        + (time == 0 ? "in it" : "after " + Instant.ofEpochMilli(time) + ", the time of the last intact frame,")
        + " are in doubt";
  }

  /** Returns the index of the last byte that is not zero; -1 if there is none. */
  public static int lastNonZero(ByteBuffer content) {
    int index = content.limit() - 1;
    while (index >= 0 && content.get(index) == 0) index--;
    return index;
  }

  /** Throws if a later frame says that the frame at the position of the buffer was on disk. */
  private void checkTorn(Segment segment, ByteBuffer content) {
    int offset = content.position();
    int lastOffset = content.limit() - Frame.MIN_SIZE;
    for (int laterOffset = offset + Frame.MIN_SIZE; laterOffset <= lastOffset; laterOffset += Frame.ALIGNMENT) {
      // The number is checked first, because the checksum takes long.
      long claimedNumber = content.getLong(laterOffset + 8);
      if (claimedNumber <= nextFrame || claimedNumber > nextFrame + content.limit() / Frame.MIN_SIZE) continue;
      var laterFrame = Frame.of(segment.position(laterOffset), content.duplicate().position(laterOffset));
      if (laterFrame != null && laterFrame.lastSynced() >= nextFrame)
        throw damaged(segment, "frame " + nextFrame + " at " + offset + " was on disk, and is no longer intact; frame "
            + laterFrame.number() + " at " + laterOffset + " is intact");
    }
  }

  /**
   * Moves a torn end to a file of its own, and writes zeros in its place. Returns the file name.
   */
  private String moveTornEnd(Segment segment, int offset, ByteBuffer content) throws IOException {
    String stem = segment.name().replace(".log", "-" + offset);
    String name = stem + ".torn";
    for (int i = 2; disk.names().contains(name); i++) name = stem + "-" + i + ".torn";
    AtomicFile.create(disk, name, content.remaining(), content);
    disk.write(segment.name(), offset, ByteBuffer.allocate(content.remaining()));
    disk.sync(segment.name());
    return name;
  }

  private StoreDamagedException damaged(Segment segment, String problem) {
    return new StoreDamagedException(disk + ": " + segment.name() + " is damaged: " + problem
        + ". Nothing was changed; restore the file from a backup");
  }
}
