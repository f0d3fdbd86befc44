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
 * @param lastSynced the number of the last frame that was on disk when this one was written
 * @param time in milliseconds since 1970
 */
record Frame(long number, long lastSynced, long time, FrameKind kind, List<ByteBuffer> records) {
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
  record FrameHeader(long number, long lastSynced, long time, FrameKind kind, int records, int size) {}

  private static final int LEAD_BYTES = 8; // bytes before those that the length counts
  private static final int FIXED_BYTES = 28; // bytes of the fixed fields that the length counts
  static final int ALIGNMENT = 8;
  static final int RECORDS_OFFSET = LEAD_BYTES + FIXED_BYTES; // where the first one is
  static final int MIN_SIZE = (int) size(0, 0);

  static Frame ofRecords(long number, long forced, long time, List<ByteBuffer> records) {
    return new Frame(number, forced, time, FrameKind.RECORDS, records);
  }

  static Frame ofEnd(long number, long forced, long time, FrameKind kind) {
    return new Frame(number, forced, time, kind, List.of());
  }

  /** Where the next record is. */
  static int nextOffset(int offset, ByteBuffer record) {
    return offset + Integer.BYTES + record.remaining();
  }

  /** How many bytes a frame takes. */
  static long size(int records, long bytes) {
    return align(LEAD_BYTES + FIXED_BYTES + (long) Integer.BYTES * records + bytes);
  }

  /** How many bytes a frame takes that begins with this length. */
  static long sizeFrom(int length) {
    return align(LEAD_BYTES + (long) length);
  }

  static long align(long size) {
    return (size + ALIGNMENT - 1) & -ALIGNMENT;
  }

  long size() {
    return size(records.size(), records.stream().mapToLong(ByteBuffer::remaining).sum());
  }

  ByteBuffer bytes(FramePosition place) {
    var out = ByteBuffer.allocate(Math.toIntExact(size()));
    out.position(LEAD_BYTES).putLong(number).putLong(lastSynced).putLong(time);
    out.putInt(kind == FrameKind.RECORDS ? records.size() : -kind.ordinal());
    for (var one : records) out.putInt(one.remaining()).put(one.duplicate());
    int length = out.position() - LEAD_BYTES;
    return out.putInt(0, length).putInt(4, crc(place, length, out.slice(LEAD_BYTES, length))).clear();
  }

  /** Returns null if no whole frame begins at the buffer's position, which is not moved. */
  static Frame of(FramePosition place, ByteBuffer file) {
    var head = head(place, file);
    if (head == null) return null;
    var records = new ArrayList<ByteBuffer>();
    int at = file.position() + RECORDS_OFFSET;
    for (int i = 0; i < head.records; i++) {
      var record = file.slice(at + Integer.BYTES, file.getInt(at));
      records.add(record);
      at = nextOffset(at, record);
    }
    return new Frame(head.number, head.lastSynced, head.time, head.kind, records);
  }

  /** Likewise. */
  static FrameHeader head(FramePosition place, ByteBuffer file) {
    int start = file.position();
    if (file.remaining() < LEAD_BYTES + FIXED_BYTES) return null;
    int length = file.getInt(start);
    if (length < FIXED_BYTES || align(LEAD_BYTES + (long) length) > file.remaining()) return null;
    int end = start + LEAD_BYTES + length;
    if (file.getInt(start + 4) != crc(place, length, file.slice(start + LEAD_BYTES, length))) return null;
    int next = start + (int) align(LEAD_BYTES + (long) length);
    for (int i = end; i < next; i++) if (file.get(i) != 0) return null;
    int records = file.getInt(start + RECORDS_OFFSET - Integer.BYTES);
    return new FrameHeader(file.getLong(start + LEAD_BYTES), file.getLong(start + LEAD_BYTES + 8),
        file.getLong(start + LEAD_BYTES + 16),
        records > 0 ? FrameKind.RECORDS : FrameKind.values()[-records], Math.max(0, records), next - start);
  }

  private static int crc(FramePosition place, int length, ByteBuffer content) {
    return Checksum.of(ByteBuffer.allocate(20).putLong(place.store).putInt(place.segment).putInt(place.offset)
        .putInt(length).flip(), content);
  }
}
