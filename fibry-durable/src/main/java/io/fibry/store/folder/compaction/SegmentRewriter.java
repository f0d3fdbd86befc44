package io.fibry.store.folder.compaction;

import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import io.fibry.store.folder.index.LogIndex;
import io.fibry.store.folder.index.Relocations;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.Segment;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;

/**
 * Writes a segment with the live records of several sealed segments, and puts it in their place.
 */
final class SegmentRewriter {
  private static final int SYNC_BYTES = 1 << 22; // bytes between syncs; small, because syncs of the log wait for them

  /**
   * A sealed segment that is to be rewritten.
   *
   * @param segment the segment
   * @param seal the number and time of its last frame, and whether all its records are live
   * @param bytes the size of the frames with its live records
   * @param records the number of its live records
   */
  record SegmentContent(Segment segment, LiveRecordReader.SegmentSeal seal, long bytes, int records) {

    static SegmentContent of(Segment segment, LiveRecordReader liveRecords) throws IOException {
      long[] sums = new long[2];
      var seal = liveRecords.read(segment, (frame, frameRecords) -> {
        sums[0] += frame.size();
        sums[1] += frameRecords.size();
      });
      return new SegmentContent(segment, seal, sums[0], (int) sums[1]);
    }
  }

  private final List<SegmentContent> contents = new ArrayList<>();
  private long bytes = Segment.HEADER + Frame.MIN_SIZE; // the size of the new segment
  private int records; // the number of live records in all added segments
  private Relocations relocations;
  private int end = Segment.HEADER; // the end of the written bytes in the new segment
  private int syncedEnd; // the end of the synced bytes
  private boolean isReplacementIncomplete;

  /** Returns whether another segment still fits into the new segment. */
  boolean fits(SegmentContent content, int maxSize) {
    return contents.isEmpty() || bytes + content.bytes <= maxSize;
  }

  void add(SegmentContent content) {
    contents.add(content);
    bytes += content.bytes;
    records += content.records;
  }

  /**
   * Returns whether no segment was added, or the new segment would be the same as the only segment
   * that it replaces. A segment with a dead message is always rewritten. A later turn says that the
   * message was handled, but that later turn loses the information when it is rewritten itself.
   */
  boolean isUnchanged() {
    return contents.isEmpty()
        || contents.size() == 1 && contents.getFirst().segment.isCompact() && contents.getFirst().seal.isAllLive();
  }

  /** Returns the segments that the new segment replaces. */
  List<Segment> replaced() {
    return contents.stream().map(SegmentContent::segment).toList();
  }

  /** Returns the new segment. */
  Segment segment() {
    var last = contents.getLast().segment;
    return new Segment(last.storeId(), contents.getFirst().segment.firstReplaced(), last.number(), true);
  }

  /**
   * Writes the new segment under its unfinished name. When this returns, its content is on disk.
   */
  void write(StorageDirectory disk, LiveRecordReader liveRecords) throws IOException {
    int size = Math.toIntExact(bytes);
    var segment = segment();
    relocations = new Relocations(segment.number(), records);
    AtomicFile.write(disk, segment.name(), size, segment.header(size));
    for (var content : contents) liveRecords.read(content.segment, (frame, part) -> write(disk, frame, part));
    var seal = contents.getLast().seal;
    write(disk, Frame.ofEnd(seal.frameNumber(), seal.frameNumber() - 1, seal.time(), Frame.FrameKind.SEALED),
        List.of());
    disk.sync(segment.name() + AtomicFile.UNFINISHED_SUFFIX);
  }

  private void write(StorageDirectory disk, Frame frame, List<LiveRecordReader.LiveRecord> liveRecords)
      throws IOException {
    String name = segment().name() + AtomicFile.UNFINISHED_SUFFIX;
    var content = frame.bytes(segment().position(end));
    if (end + content.remaining() > bytes) // possible: a new view, or a clock that was set back, makes more turns live
      throw new IOException(name + " was made for " + bytes + " bytes, and the live records need more");
    disk.write(name, end, content);
    int offset = end + Frame.RECORDS_OFFSET;
    for (var liveRecord : liveRecords) {
      relocations.add(liveRecord.position(), liveRecord.liveMessages(), offset);
      offset = Frame.nextOffset(offset, liveRecord.record());
    }
    end += content.remaining();
    if (end - syncedEnd < SYNC_BYTES) return;
    disk.sync(name);
    syncedEnd = end;
  }

  /**
   * Puts the new segment in place of the segments that it replaces, and deletes their files.
   *
   * @param sealed all sealed segments by the number of their last frame
   */
  void replaceSegments(StorageDirectory disk, LogIndex index, NavigableMap<Long, Segment> sealed) throws IOException {
    var segment = segment();
    index.relocate(() -> {
      AtomicFile.publish(disk, segment.name());
      isReplacementIncomplete = true;
      contents.forEach(content -> sealed.remove(content.seal.frameNumber()));
      sealed.put(contents.getLast().seal.frameNumber(), segment);
    }, relocations);
    disk.syncDirectory();
    isReplacementIncomplete = false;
    for (var replacedSegment : replaced()) if (replacedSegment.number() != segment.number())
      disk.delete(replacedSegment.name());
  }

  /**
   * Returns whether the replacement began and did not complete. In that case, the index may have
   * positions in the replaced files, or these files may exist again after a crash.
   */
  boolean isReplacementIncomplete() {
    return isReplacementIncomplete;
  }
}
