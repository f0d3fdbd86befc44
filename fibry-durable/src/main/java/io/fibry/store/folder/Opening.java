package io.fibry.store.folder;

import io.fibry.store.StoreDamagedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Reads a log from its first frame to its last.
 *
 * <p>What follows the last whole frame is the torn end of a commit whose senders were never told,
 * if no frame behind it says that this one was on disk. It is kept aside, and the log goes on in
 * its place. Otherwise it is damage: nothing is changed.
 */
final class Opening {
  interface Reader {
    void read(Frame.Place place, Frame frame);
  }

  /**
   * Where the next frame goes, and its number.
   *
   * @param full the segments before, by the number of the last frame of each
   * @param closed whether the store was closed at its last use
   * @param torn the files with what was kept aside
   * @param replaced the files that others stand for
   */
  record End(Segment segment, int offset, long number, NavigableMap<Long, Segment> full, boolean closed,
      List<String> torn,
      List<String> replaced) {}

  private final Disk disk;
  private final long store;
  private final Reader reader;
  private long number = 1; // of the frame that comes
  private boolean closed;
  private final NavigableMap<Long, Segment> full = new TreeMap<>();
  private final List<String> replaced = new ArrayList<>();

  private Opening(Disk disk, long store, Reader reader) {
    this.disk = disk;
    this.store = store;
    this.reader = reader;
  }

  static End open(Disk disk, long store, Reader reader) throws IOException {
    return new Opening(disk, store, reader).read();
  }

  private End read() throws IOException {
    var segments = segments();
    for (int i = 0; i < segments.size(); i++) {
      var segment = segments.get(i);
      if (segment.first() != next(full))
        throw damaged(new Segment(store, next(full)),
            "it is missing, and " + segments.getLast().number() + " is there");
      var file = content(segment);
      int end = readFrames(segment, file);
      if (end >= 0) return end(segment, end, file, segments.subList(i + 1, segments.size()));
      full.put(number - 1, segment);
    }
    throw damaged(new Segment(store, next(full)),
        segments.isEmpty() ? "it is missing, as all others" : "it is missing, and the one before it was full");
  }

  private static int next(NavigableMap<Long, Segment> before) {
    return before.isEmpty() ? 1 : before.lastEntry().getValue().number() + 1;
  }

  /** Oldest first, without those that another one stands for. */
  private List<Segment> segments() throws IOException {
    var numbers = disk.names().stream().filter(Segment::isName).map(Segment::numberOf).toList();
    var segments = new ArrayDeque<Segment>();
    for (var number : numbers.reversed()) {
      if (!segments.isEmpty() && number >= segments.getFirst().first()) replaced.add(Segment.nameOf(number));
      else segments.addFirst(Segment.of(disk, store, number));
    }
    return List.copyOf(segments);
  }

  private ByteBuffer content(Segment segment) throws IOException {
    var file = segment.read(disk);
    String wrong = segment.differs(file);
    if (wrong != null) throw damaged(segment, wrong);
    return file.position(Segment.HEADER);
  }

  /** Answers where its frames end; negative: the log goes on in the next one. */
  private int readFrames(Segment segment, ByteBuffer file) {
    while (true) {
      var place = segment.place(file.position());
      var frame = Frame.of(place, file);
      if (frame == null) return file.position();
      if (frame.number() != number && (frame.number() < number || !segment.compact())) throw damaged(segment,
          "frame " + frame.number() + " is at " + file.position() + ", where " + number + " was expected");
      number = frame.number() + 1;
      closed = frame.kind() == Frame.Kind.CLOSED;
      if (frame.kind() == Frame.Kind.SEALED) return -1;
      if (frame.kind() == Frame.Kind.RECORDS) reader.read(place, frame);
      file.position((int) (file.position() + frame.size()));
    }
  }

  private End end(Segment segment, int offset, ByteBuffer file, List<Segment> later) throws IOException {
    int last = lastNonZero(file);
    if (last >= offset) checkTorn(segment, file);
    if (segment.compact()) throw damaged(segment, "it ends at " + offset + ", in front of its last frame");
    for (var one : later) checkUnused(one, segment, offset);
    if (last < offset) return new End(segment, offset, number, full, closed, List.of(), replaced);
    String torn = keepAside(segment, offset, file.slice(offset, last + 1 - offset));
    return new End(segment, offset, number, full, false, List.of(torn), replaced);
  }

  /** Segments are made in advance. */
  private void checkUnused(Segment later, Segment segment, int offset) throws IOException {
    var file = content(later);
    if (lastNonZero(file) >= Segment.HEADER) throw damaged(segment,
        "no whole frame is at " + offset + ", but " + later.name() + " goes on with the log");
  }

  static int lastNonZero(ByteBuffer file) {
    int last = file.limit() - 1;
    while (last >= 0 && file.get(last) == 0) last--;
    return last;
  }

  private void checkTorn(Segment segment, ByteBuffer file) {
    int offset = file.position();
    for (int at = offset + Frame.SMALLEST; at <= file.limit() - Frame.SMALLEST; at += Frame.ALIGNMENT) {
      long claimed = file.getLong(at + 8); // its number, before its checksum takes time
      if (claimed <= number || claimed > number + file.limit() / Frame.SMALLEST) continue;
      var later = Frame.of(segment.place(at), file.duplicate().position(at));
      if (later != null && later.forced() >= number)
        throw damaged(segment, "frame " + number + " at " + offset + " was on disk, and is no longer whole; frame "
            + later.number() + " at " + at + " is whole");
    }
  }

  private String keepAside(Segment segment, int offset, ByteBuffer torn) throws IOException {
    String stem = segment.name().replace(".log", "-" + offset);
    String name = stem + ".torn";
    for (int i = 2; disk.names().contains(name); i++) name = stem + "-" + i + ".torn";
    NewFile.make(disk, name, torn.remaining(), torn);
    disk.write(segment.name(), offset, ByteBuffer.allocate(torn.remaining()));
    disk.force(segment.name());
    return name;
  }

  private StoreDamagedException damaged(Segment segment, String what) {
    return new StoreDamagedException(disk + ": " + segment.name() + " is damaged: " + what
        + ". Nothing was changed; put back a copy of the file");
  }
}
