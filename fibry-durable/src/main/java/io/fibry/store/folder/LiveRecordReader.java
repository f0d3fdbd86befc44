package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.function.Predicate;

/**
 * Reads what is alive in full segments, at a pace. A part of a segment at a time is in memory, and
 * becomes a frame. Parts end at the same places each time, so what dies between two readings makes
 * no frame larger. Used by one thread.
 */
final class LiveRecordReader {
  private static final int MAX_PART = 1 << 20; // bytes, and what is left of the frame at its end

  /**
   * A record, without what is dead of it.
   *
   * @param place where the whole one is
   * @param messages the messages that are alive, by their index in the whole record
   */
  record LiveRecord(ByteBuffer record, long place, List<Integer> messages) {}

  interface LiveRecordConsumer {
    /** @param alive the frame's records; not for later */
    void take(Frame frame, List<LiveRecord> alive) throws IOException;
  }

  /** @param whole whether no record in front of it was dead */
  record SegmentSeal(long number, long time, boolean whole) {}

  private final LogIndex index;
  private final FileWindow window;
  private final DiskThrottle throttle;

  LiveRecordReader(StorageDirectory disk, LogIndex index, DiskThrottle throttle) {
    this.index = index;
    this.window = new FileWindow(disk);
    this.throttle = throttle;
  }

  SegmentSeal read(Segment segment, LiveRecordConsumer use) throws IOException {
    window.open(segment.name());
    var part = new ArrayList<LiveRecord>();
    boolean whole = true;
    int begun = Segment.HEADER;
    var place = segment.place(begun);
    Frame last = null;
    while (true) {
      var frame = frame(segment, place);
      boolean sealed = frame.kind() == Frame.FrameKind.SEALED;
      if (sealed || place.offset() - begun >= MAX_PART) {
        if (!part.isEmpty()) use.take(frame(last, part), part);
        part.clear();
        throttle.recordWork(place.offset() - begun);
        begun = place.offset();
      }
      if (sealed) return new SegmentSeal(frame.number(), frame.time(), whole);
      whole &= add(frame, place, part);
      last = frame;
      place = segment.place(place.offset() + (int) frame.size());
    }
  }

  private Frame frame(Segment segment, Frame.FramePosition place) throws IOException {
    var frame = Frame.of(place, window.frame(place.offset()));
    if (frame != null) return frame;
    throw new IOException(segment.name() + " has no whole frame at " + place.offset() + ", though it was full");
  }

  /** With the number of the last one: frames have ascending numbers. */
  private static Frame frame(Frame last, List<LiveRecord> part) {
    return Frame.ofRecords(last.number(), last.number() - 1, last.time(),
        part.stream().map(LiveRecord::record).toList());
  }

  /** Returns false if a record is dead. */
  private boolean add(Frame frame, Frame.FramePosition place, List<LiveRecord> part) {
    boolean whole = true;
    int offset = place.offset() + Frame.RECORDS_OFFSET;
    var unread = new HashMap<String, Integer>(0); // from this record on, by kind
    int at = 0;
    for (var record : frame.records()) {
      int number = at++;
      var alive = liveRecord(record, place.segment(), offset, kind -> number >= unread.computeIfAbsent(kind,
          same -> index.viewOffsets().firstUnread(same, frame)));
      whole &= alive != null && alive.record.equals(record);
      if (alive != null) part.add(alive);
      offset = Frame.nextOffset(offset, record);
    }
    return whole;
  }

  /** Returns null if no part of the record is alive. */
  private LiveRecord liveRecord(ByteBuffer record, int segment, int offset, Predicate<String> unread) {
    var stored = LogRecord.of(record);
    long place = ActorLocation.packPlace(segment, offset);
    boolean turn = stored.type() != LogRecord.RecordType.MESSAGE && index.isAlive(stored, place, unread);
    var messages = new ArrayList<Integer>(0);
    for (int i = 0; i < stored.outbox().size(); i++) {
      var sent = stored.outbox().get(i);
      var waits = new ActorLocation.MessageLocation(sent.due(), segment, offset, i);
      if (index.expandedActor(sent.to()).filter(location -> location.has(sent.id(), waits)).isPresent())
        messages.add(i);
    }
    if (!turn && messages.isEmpty()) return null;
    return new LiveRecord(stored.bytes(turn, messages.stream().map(stored.outbox()::get).toList()), place, messages);
  }
}
