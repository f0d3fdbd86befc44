package io.fibry.store.folder.compaction;

import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.index.ActorLocation;
import io.fibry.store.folder.index.LogIndex;
import io.fibry.store.folder.log.FileWindow;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.Segment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.function.Predicate;

/**
 * Reads the live records of sealed segments. Reads a segment in parts, and gives the live records
 * of each part to the consumer as one frame. Pauses between parts, so that other threads can use
 * the disk. Each reading of a segment makes the same parts. Records that die between two readings
 * can thus only make frames smaller. Used by one thread.
 */
final class LiveRecordReader {
  private static final int MAX_PART = 1 << 20; // bytes; the last frame of a part may exceed it

  /**
   * A live record, without its dead messages.
   *
   * @param record the bytes of the record
   * @param position the position of the original record
   * @param liveMessages the indices of the live messages in the original record
   */
  record LiveRecord(ByteBuffer record, long position, List<Integer> liveMessages) {}

  interface LiveRecordConsumer {
    /** @param records the records of the frame; the list is valid only during the call */
    void take(Frame frame, List<LiveRecord> records) throws IOException;
  }

  /**
   * The number and time of the last frame of a sealed segment.
   *
   * @param isAllLive whether a rewrite would change no record of the segment
   */
  record SegmentSeal(long frameNumber, long time, boolean isAllLive) {}

  private final LogIndex index;
  private final FileWindow window;
  private final DiskThrottle throttle;

  LiveRecordReader(StorageDirectory disk, LogIndex index, DiskThrottle throttle) {
    this.index = index;
    this.window = new FileWindow(disk);
    this.throttle = throttle;
  }

  SegmentSeal read(Segment segment, LiveRecordConsumer consumer) throws IOException {
    window.open(segment.name());
    var part = new ArrayList<LiveRecord>();
    boolean isAllLive = true;
    int partStart = Segment.HEADER;
    var position = segment.position(partStart);
    Frame lastFrame = null;
    while (true) {
      var frame = frameAt(segment, position);
      boolean isSealed = frame.kind() == Frame.FrameKind.SEALED;
      if (isSealed || position.offset() - partStart >= MAX_PART) {
        if (!part.isEmpty()) consumer.take(merge(lastFrame, part), part);
        part.clear();
        throttle.recordWork(position.offset() - partStart);
        partStart = position.offset();
      }
      if (isSealed) return new SegmentSeal(frame.number(), frame.time(), isAllLive);
      isAllLive &= add(frame, position, part);
      lastFrame = frame;
      position = segment.position(position.offset() + (int) frame.size());
    }
  }

  private Frame frameAt(Segment segment, Frame.FramePosition position) throws IOException {
    var frame = Frame.of(position, window.frame(position.offset()));
    if (frame != null) return frame;
    throw new IOException(segment.name() + " has no intact frame at " + position.offset() + ", although it was sealed");
  }

  /**
   * Makes one frame of a part. The new frame gets the number of the last frame of the part, because
   * frames must have ascending numbers.
   */
  private static Frame merge(Frame lastFrame, List<LiveRecord> part) {
    return Frame.ofRecords(lastFrame.number(), lastFrame.number() - 1, lastFrame.time(),
        part.stream().map(LiveRecord::record).toList());
  }

  /**
   * Adds the live records of a frame to a part. Returns whether all records of the frame are live.
   */
  private boolean add(Frame frame, Frame.FramePosition position, List<LiveRecord> part) {
    boolean isAllLive = true;
    int offset = position.offset() + Frame.RECORDS_OFFSET;
    // The index in the frame, by kind, of the first record that a view may still have to read.
    var firstUnread = new HashMap<String, Integer>(0);
    int nextIndex = 0;
    for (var record : frame.records()) {
      int recordIndex = nextIndex++;
      var liveRecord = liveRecord(record, position.segment(), offset,
          kind -> recordIndex >= firstUnread.computeIfAbsent(kind,
              newKind -> index.viewOffsets().firstUnread(newKind, frame)));
      isAllLive &= liveRecord != null && liveRecord.record.equals(record);
      if (liveRecord != null) part.add(liveRecord);
      offset = Frame.nextOffset(offset, record);
    }
    return isAllLive;
  }

  /** Returns a copy of a record without its dead content; null if the whole record is dead. */
  private LiveRecord liveRecord(ByteBuffer record, int segment, int offset, Predicate<String> isUnread) {
    var original = LogRecord.of(record);
    long position = ActorLocation.packPosition(segment, offset);
    boolean isTurnLive = original.type() != LogRecord.RecordType.MESSAGE && index.isLive(original, position, isUnread);
    var liveMessages = new ArrayList<Integer>(0);
    for (int i = 0; i < original.outbox().size(); i++) {
      var sent = original.outbox().get(i);
      var location = new ActorLocation.MessageLocation(sent.due(), segment, offset, i);
      if (index.expandedActor(sent.to()).filter(actor -> actor.isPending(sent.id(), location)).isPresent())
        liveMessages.add(i);
    }
    if (!isTurnLive && liveMessages.isEmpty()) return null;
    return new LiveRecord(original.bytes(isTurnLive, liveMessages.stream().map(original.outbox()::get).toList()),
        position, liveMessages);
  }
}
