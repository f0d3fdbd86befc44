package io.fibry.store.folder;

import io.fibry.store.StoreDamagedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.slf4j.LoggerFactory;

/**
 * Reads a log from its first frame to its last.
 *
 * <p>Bytes behind the last whole frame are damage if a frame behind them says that they were on
 * disk: the log is refused, and nothing is changed. Otherwise they are the torn end of a commit
 * whose senders were never told. They are kept in a file beside the log, and the log continues in
 * their place. The last commit before a kill is in doubt, because it may have been acknowledged and
 * damaged afterwards: as long as it has no mark behind it ({@link SegmentLog#markSynced}), it looks like
 * a torn end.
 */
final class LogReader {
  interface FrameReader {
    /** @param file from the frame on; not for later */
    void read(Frame.FramePosition place, Frame.FrameHeader frame, ByteBuffer file);
  }

  /**
   * Where the next frame goes, and its number.
   *
   * @param full the segments before, by the number of the last frame of each
   * @param closed whether the store was closed at its last use
   * @param unsure the last frames: they may be in the memory of the machine only
   * @param torn the files with what was kept aside
   * @param replaced the files that others stand for
   */
  record LogEnd(Segment segment, int offset, long number, NavigableMap<Long, Segment> full, boolean closed,
      List<UnconfirmedFrame> unsure, List<String> torn, List<String> replaced) {}

  /** A frame that no other says to be on disk. */
  record UnconfirmedFrame(Segment segment, int offset, Frame.FrameHeader frame) {}

  private static final int BEGINNING = 1 << 16; // of a segment, in bytes

  private final StorageDirectory disk;
  private final long store;
  private final FrameReader reader;
  private final FileWindow window;
  private long number = 1; // of the frame that comes
  private long time; // the time of the last whole frame, or 0 if there is none
  private boolean closed;
  private final NavigableMap<Long, Segment> full = new TreeMap<>();
  private final ArrayDeque<UnconfirmedFrame> unsure = new ArrayDeque<>();
  private final List<String> replaced = new ArrayList<>();

  private LogReader(StorageDirectory disk, long store, FrameReader reader) {
    this.disk = disk;
    this.store = store;
    this.reader = reader;
    this.window = new FileWindow(disk);
  }

  static LogEnd open(StorageDirectory disk, long store, FrameReader reader) throws IOException {
    return new LogReader(disk, store, reader).read();
  }

  private LogEnd read() throws IOException {
    var segments = Segment.all(disk, store, replaced::add);
    for (int i = 0; i < segments.size(); i++) {
      var segment = segments.get(i);
      if (segment.first() != nextSegment(full))
        throw damaged(new Segment(store, nextSegment(full)),
            "it is missing, and " + segments.getLast().number() + " is there");
      open(segment);
      int end = readFrames(segment);
      if (end >= 0) return end(segment, end, segments.subList(i + 1, segments.size()));
      full.put(number - 1, segment);
    }
    throw damaged(new Segment(store, nextSegment(full)),
        segments.isEmpty() ? "it is missing, as all others" : "it is missing, and the one before it was full");
  }

  private static int nextSegment(NavigableMap<Long, Segment> before) {
    return before.isEmpty() ? 1 : before.lastEntry().getValue().number() + 1;
  }

  private void open(Segment segment) throws IOException {
    window.open(segment.name());
    var header = window.bytesAt(0, Segment.HEADER).slice();
    String wrong = segment.difference(header, window.size());
    if (wrong != null) throw damaged(segment, wrong);
  }

  /**
   * Returns where the frames of the segment end; negative if the log continues in the next segment.
   */
  private int readFrames(Segment segment) throws IOException {
    int offset = Segment.HEADER;
    while (true) {
      var place = segment.place(offset);
      var file = window.frame(offset);
      var frame = Frame.head(place, file);
      if (frame == null) return offset;
      if (frame.number() != number && (frame.number() < number || !segment.compact())) throw damaged(segment,
          "frame " + frame.number() + " is at " + offset + ", where " + number + " was expected");
      number = frame.number() + 1;
      time = frame.time();
      closed = frame.kind() == Frame.FrameKind.CLOSED;
      while (!unsure.isEmpty() && unsure.peek().frame.number() <= frame.lastSynced()) unsure.poll();
      if (!segment.compact()) unsure.add(new UnconfirmedFrame(segment, offset, frame));
      if (frame.kind() == Frame.FrameKind.SEALED) return -1;
      if (frame.kind() == Frame.FrameKind.RECORDS) reader.read(place, frame, file);
      offset += frame.size();
    }
  }

  private LogEnd end(Segment segment, int offset, List<Segment> later) throws IOException {
    boolean torn = !window.isBlank(offset, window.size());
    var file = torn ? segment.read(disk).position(offset) : null;
    if (torn) checkTorn(segment, file);
    if (segment.compact()) throw damaged(segment, "it ends at " + offset + ", in front of its last frame");
    for (var one : later) checkUnused(one, segment, offset, torn);
    if (!torn) return new LogEnd(segment, offset, number, full, closed, List.copyOf(unsure), List.of(), replaced);
    int size = lastNonZero(file) + 1 - offset;
    String aside = moveTornFile(segment, offset, file.slice(offset, size));
    LogWriter.log(() -> LoggerFactory.getLogger(LogReader.class).warn("{}: {} at {}: {}. They are kept in {}", disk,
        segment.name(), offset, describeTornEnd(size, time), aside));
    return new LogEnd(segment, offset, number, full, false, List.copyOf(unsure), List.of(aside), replaced);
  }

  /**
   * Segments are made in advance. If no end is torn, the beginning of an unused segment is enough:
   * its first frame is on disk before any of its frames is acknowledged, and the seal of this
   * segment was before it. So if both are blank, and nothing else is wrong, no frame of it was ever
   * told.
   */
  private void checkUnused(Segment later, Segment segment, int offset, boolean torn) throws IOException {
    open(later);
    if (!window.isBlank(Segment.HEADER, torn ? window.size() : BEGINNING)) throw damaged(segment,
        "no whole frame is at " + offset + ", but " + later.name() + " goes on with the log");
  }

  /**
   * Describes a torn end.
   *
   * @param time of the last whole frame, or 0 if there is none
   */
  static String describeTornEnd(int bytes, long time) {
    return "the last " + bytes + " bytes of the log are a commit that was cut off and never acknowledged, or one that "
        + "was damaged afterwards: nothing behind it says that it was on disk. In doubt are the turns "
        + (time == 0 ? "in it" : "after " + Instant.ofEpochMilli(time) + ", the time of the last whole frame");
  }

  static int lastNonZero(ByteBuffer file) {
    int last = file.limit() - 1;
    while (last >= 0 && file.get(last) == 0) last--;
    return last;
  }

  private void checkTorn(Segment segment, ByteBuffer file) {
    int offset = file.position();
    for (int at = offset + Frame.MIN_SIZE; at <= file.limit() - Frame.MIN_SIZE; at += Frame.ALIGNMENT) {
      long claimed = file.getLong(at + 8); // its number, before its checksum takes time
      if (claimed <= number || claimed > number + file.limit() / Frame.MIN_SIZE) continue;
      var later = Frame.of(segment.place(at), file.duplicate().position(at));
      if (later != null && later.lastSynced() >= number)
        throw damaged(segment, "frame " + number + " at " + offset + " was on disk, and is no longer whole; frame "
            + later.number() + " at " + at + " is whole");
    }
  }

  private String moveTornFile(Segment segment, int offset, ByteBuffer torn) throws IOException {
    String stem = segment.name().replace(".log", "-" + offset);
    String name = stem + ".torn";
    for (int i = 2; disk.names().contains(name); i++) name = stem + "-" + i + ".torn";
    AtomicFile.create(disk, name, torn.remaining(), torn);
    disk.write(segment.name(), offset, ByteBuffer.allocate(torn.remaining()));
    disk.sync(segment.name());
    return name;
  }

  private StoreDamagedException damaged(Segment segment, String what) {
    return new StoreDamagedException(disk + ": " + segment.name() + " is damaged: " + what
        + ". Nothing was changed; put back a copy of the file");
  }
}
