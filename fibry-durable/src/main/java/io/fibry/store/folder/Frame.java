package io.fibry.store.folder;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * One commit as it is written: its records are all there, or not at all.
 *
 * <pre>
 * length 4 | crc 4 | number 8 | forced 8 | time 8 | records 4 | length 4, bytes | .. | zeros to 8
 * </pre>
 *
 * <p>The length is the number of bytes behind the crc, without the zeros; where it is 0, no frame
 * was written yet. The crc covers the frame's place as well, so that a block of an older file never
 * looks like a frame.
 *
 * @param number from 1 on, without gaps over all segments
 * @param forced the number of the last frame that was on disk when this one was written
 * @param time in milliseconds since 1970
 */
record Frame(long number, long forced, long time, FrameKind kind, List<ByteBuffer> records) {
  enum FrameKind {
    RECORDS,
    /** The store was closed. */
    CLOSED,
    /** The log continues in the next segment, which exists. */
    SEALED
  }

  /** Where a frame is: each place gives another crc. */
  record FramePosition(long store, int segment, int offset) {}

  /**
   * A whole frame, of which the records were not read.
   *
   * @param records how many it has
   * @param size in bytes
   */
  record FrameHeader(long number, long forced, long time, FrameKind kind, int records, int size) {}

  private static final int LEAD = 8; // bytes before those that the length counts
  private static final int FIXED = 28; // bytes of the fixed fields that the length counts
  static final int ALIGNMENT = 8;
  static final int RECORDS = LEAD + FIXED; // where the first one is
  static final int SMALLEST = (int) size(0, 0);

  static Frame ofRecords(long number, long forced, long time, List<ByteBuffer> records) {
    return new Frame(number, forced, time, FrameKind.RECORDS, records);
  }

  static Frame ofEnd(long number, long forced, long time, FrameKind kind) {
    return new Frame(number, forced, time, kind, List.of());
  }

  /** Where the next record is. */
  static int next(int offset, ByteBuffer record) {
    return offset + Integer.BYTES + record.remaining();
  }

  /** How many bytes a frame takes. */
  static long size(int records, long bytes) {
    return aligned(LEAD + FIXED + (long) Integer.BYTES * records + bytes);
  }

  /** How many bytes a frame takes that begins with this length. */
  static long sizeFrom(int length) {
    return aligned(LEAD + (long) length);
  }

  static long aligned(long size) {
    return (size + ALIGNMENT - 1) & -ALIGNMENT;
  }

  long size() {
    return size(records.size(), records.stream().mapToLong(ByteBuffer::remaining).sum());
  }

  ByteBuffer bytes(FramePosition place) {
    var out = ByteBuffer.allocate(Math.toIntExact(size()));
    out.position(LEAD).putLong(number).putLong(forced).putLong(time);
    out.putInt(kind == FrameKind.RECORDS ? records.size() : -kind.ordinal());
    for (var one : records) out.putInt(one.remaining()).put(one.duplicate());
    int length = out.position() - LEAD;
    return out.putInt(0, length).putInt(4, crc(place, length, out.slice(LEAD, length))).clear();
  }

  /** Returns null if no whole frame begins at the buffer's position, which is not moved. */
  static Frame of(FramePosition place, ByteBuffer file) {
    var head = head(place, file);
    if (head == null) return null;
    var records = new ArrayList<ByteBuffer>();
    int at = file.position() + RECORDS;
    for (int i = 0; i < head.records; i++) {
      var record = file.slice(at + Integer.BYTES, file.getInt(at));
      records.add(record);
      at = next(at, record);
    }
    return new Frame(head.number, head.forced, head.time, head.kind, records);
  }

  /** Likewise. */
  static FrameHeader head(FramePosition place, ByteBuffer file) {
    int start = file.position();
    if (file.remaining() < LEAD + FIXED) return null;
    int length = file.getInt(start);
    if (length < FIXED || aligned(LEAD + (long) length) > file.remaining()) return null;
    int end = start + LEAD + length;
    if (file.getInt(start + 4) != crc(place, length, file.slice(start + LEAD, length))) return null;
    int next = start + (int) aligned(LEAD + (long) length);
    for (int i = end; i < next; i++) if (file.get(i) != 0) return null;
    int records = file.getInt(start + RECORDS - Integer.BYTES);
    return new FrameHeader(file.getLong(start + LEAD), file.getLong(start + LEAD + 8), file.getLong(start + LEAD + 16),
        records > 0 ? FrameKind.RECORDS : FrameKind.values()[-records], Math.max(0, records), next - start);
  }

  private static int crc(FramePosition place, int length, ByteBuffer content) {
    return Checksum.of(ByteBuffer.allocate(20).putLong(place.store).putInt(place.segment).putInt(place.offset)
        .putInt(length).flip(), content);
  }
}
