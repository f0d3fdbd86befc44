package io.fibry.store.folder;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;

/** A segment that takes the place of full ones, with what is alive in them. */
final class SegmentRewriter {
  private static final int SYNC_BYTES = 1 << 22; // bytes at once: the forces of the log wait for them

  /**
   * A full segment.
   *
   * @param bytes of frames with what is alive in it
   * @param records of these frames
   */
  record SegmentContent(Segment segment, LiveRecordReader.SegmentSeal seal, long bytes, int records) {

    static SegmentContent of(Segment segment, LiveRecordReader living) throws IOException {
      long[] sums = new long[2];
      var seal = living.read(segment, (frame, alive) -> {
        sums[0] += frame.size();
        sums[1] += alive.size();
      });
      return new SegmentContent(segment, seal, sums[0], (int) sums[1]);
    }
  }

  private final List<SegmentContent> contents = new ArrayList<>();
  private long bytes = Segment.HEADER + Frame.MIN_SIZE;
  private int records;
  private Relocations relocations;
  private int end = Segment.HEADER; // of what is written
  private int syncedEnd; // the end of the bytes that were forced
  private boolean isUnsure;

  boolean fits(SegmentContent more, int size) {
    return contents.isEmpty() || bytes + more.bytes <= size;
  }

  void add(SegmentContent content) {
    contents.add(content);
    bytes += content.bytes;
    records += content.records;
  }

  /**
   * It would be the same. Whether the rewriting saves too little. A record that says that a message
   * is done must stay until that message is gone.
   */
  boolean isUnchanged() {
    return contents.isEmpty()
        || contents.size() == 1 && contents.getFirst().segment.compact() && contents.getFirst().seal.whole();
  }

  List<Segment> replaced() {
    return contents.stream().map(SegmentContent::segment).toList();
  }

  Segment segment() {
    var last = contents.getLast().segment;
    return new Segment(last.store(), contents.getFirst().segment.first(), last.number(), true);
  }

  /** When it answers, the file is on disk, but has not its name. */
  void write(StorageDirectory disk, LiveRecordReader living) throws IOException {
    int size = Math.toIntExact(bytes);
    var segment = segment();
    relocations = new Relocations(segment.number(), records);
    AtomicFile.write(disk, segment.name(), size, segment.header(size));
    for (var content : contents) living.read(content.segment, (frame, alive) -> write(disk, frame, alive));
    var seal = contents.getLast().seal;
    write(disk, Frame.ofEnd(seal.number(), seal.number() - 1, seal.time(), Frame.FrameKind.SEALED), List.of());
    disk.sync(segment.name() + AtomicFile.UNFINISHED_SUFFIX);
  }

  private void write(StorageDirectory disk, Frame frame, List<LiveRecordReader.LiveRecord> alive) throws IOException {
    String name = segment().name() + AtomicFile.UNFINISHED_SUFFIX;
    var content = frame.bytes(segment().place(end));
    if (end + content.remaining() > bytes) // a view may be new, or the clock was set back
      throw new IOException(name + " was made for " + bytes + " bytes, and what is alive has become more");
    disk.write(name, end, content);
    int at = end + Frame.RECORDS_OFFSET;
    for (var one : alive) {
      relocations.add(one.place(), one.messages(), at);
      at = Frame.nextOffset(at, one.record());
    }
    end += content.remaining();
    if (end - syncedEnd < SYNC_BYTES) return;
    disk.sync(name);
    syncedEnd = end;
  }

  /**
   * Takes their place.
   *
   * @param full all that are full, by the last frame of each
   */
  void replaceSegments(StorageDirectory disk, LogIndex index, NavigableMap<Long, Segment> full) throws IOException {
    var segment = segment();
    index.relocate(() -> {
      AtomicFile.publish(disk, segment.name());
      isUnsure = true;
      contents.forEach(content -> full.remove(content.seal.number()));
      full.put(contents.getLast().seal.number(), segment);
    }, relocations);
    disk.syncDirectory();
    isUnsure = false;
    for (var one : replaced()) if (one.number() != segment.number()) disk.delete(one.name());
  }

  /** The index may have places of the files before, or these may come back. */
  boolean isUnsure() {
    return isUnsure;
  }
}
