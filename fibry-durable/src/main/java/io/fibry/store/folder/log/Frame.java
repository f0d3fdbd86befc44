package io.fibry.store.folder.log;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of one commit in the log. A frame is intact as a whole or not at all, so all records of
 * a commit exist or none. The fields, with their sizes in bytes:
 *
 * <pre>
 * length 4 | crc 4 | number 8 | lastSynced 8 | time 8 | records 4
 *     | for each record: length 4, bytes | zeros up to a multiple of 8
 * </pre>
 *
 * <p>The length is the number of bytes after the crc, without the zeros at the end. If the length
 * is 0, no frame was written yet. A frame of another kind than RECORDS has no records. Its field
 * {@code records} has the negative ordinal of the kind. The crc also covers the position of the
 * frame, so that a disk block of an older file never looks like a frame.
 *
 * @param number the number of the frame, from 1; only compacted segments leave out numbers
 * @param lastSynced the number of the last frame that was on disk when this frame was written
 * @param time when the frame was written, in milliseconds since 1970
 */
public record Frame(long number, long lastSynced, long time, FrameKind kind, List<ByteBuffer> records) {
  public enum FrameKind {
    RECORDS,
    /** The last frame of a store that was closed. */
    CLOSED,
    /** The last frame of a segment: the log continues in the next segment, which exists. */
    SEALED
  }

  /** The position of a frame, which its crc covers. */
  public record FramePosition(long storeId, int segment, int offset) {}

  /**
   * The fields of an intact frame without its records.
   *
   * @param records the number of records
   * @param size the size of the frame in bytes
   */
  public record FrameHeader(long number, long lastSynced, long time, FrameKind kind, int records, int size) {}

  private static final int LEAD_BYTES = 8; // the length and the crc
  private static final int FIXED_BYTES = 28; // the fixed fields that the length counts
  public static final int ALIGNMENT = 8; // the offset of each frame is a multiple of this
  public static final int RECORDS_OFFSET = LEAD_BYTES + FIXED_BYTES; // offset of the first record in a frame
  public static final int MIN_SIZE = (int) size(0, 0); // bytes of a frame without records

  public static Frame ofRecords(long number, long lastSynced, long time, List<ByteBuffer> records) {
    return new Frame(number, lastSynced, time, FrameKind.RECORDS, records);
  }

  /** Returns the last frame of a segment or of a closed store. */
  public static Frame ofEnd(long number, long lastSynced, long time, FrameKind kind) {
    return new Frame(number, lastSynced, time, kind, List.of());
  }

  /** Returns the offset of the record after the given record. */
  public static int nextOffset(int offset, ByteBuffer record) {
    return offset + Integer.BYTES + record.remaining();
  }

  /**
   * Returns the size of a frame in bytes, from the number of its records and the sum of their
   * sizes.
   */
  static long size(int records, long bytes) {
    return align(LEAD_BYTES + FIXED_BYTES + (long) Integer.BYTES * records + bytes);
  }

  /** Returns the size in bytes of a frame whose length field has this value. */
  public static long sizeFrom(int length) {
    return align(LEAD_BYTES + (long) length);
  }

  /** Returns the size, rounded up to a multiple of the alignment. */
  static long align(long size) {
    return (size + ALIGNMENT - 1) & -ALIGNMENT;
  }

  public long size() {
    return size(records.size(), records.stream().mapToLong(ByteBuffer::remaining).sum());
  }

  /** Returns the bytes of this frame for a position, which the crc covers. */
  public ByteBuffer bytes(FramePosition position) {
    var out = ByteBuffer.allocate(Math.toIntExact(size()));
    out.position(LEAD_BYTES).putLong(number).putLong(lastSynced).putLong(time);
    out.putInt(kind == FrameKind.RECORDS ? records.size() : -kind.ordinal());
    for (var record : records) out.putInt(record.remaining()).put(record.duplicate());
    int length = out.position() - LEAD_BYTES;
    return out.putInt(0, length).putInt(4, crc(position, length, out.slice(LEAD_BYTES, length))).clear();
  }

  /**
   * Returns the frame at the position of the buffer, and does not change this position. Returns
   * null if no intact frame begins there.
   */
  public static Frame of(FramePosition position, ByteBuffer content) {
    var header = readHeader(position, content);
    if (header == null) return null;
    var records = new ArrayList<ByteBuffer>();
    int offset = content.position() + RECORDS_OFFSET;
    for (int i = 0; i < header.records; i++) {
      var record = content.slice(offset + Integer.BYTES, content.getInt(offset));
      records.add(record);
      offset = nextOffset(offset, record);
    }
    return new Frame(header.number, header.lastSynced, header.time, header.kind, records);
  }

  /**
   * Returns the header of the frame at the position of the buffer, and does not change this
   * position. Returns null if no intact frame begins there.
   */
  public static FrameHeader readHeader(FramePosition position, ByteBuffer content) {
    int start = content.position();
    if (content.remaining() < LEAD_BYTES + FIXED_BYTES) return null;
    int length = content.getInt(start);
    if (length < FIXED_BYTES || align(LEAD_BYTES + (long) length) > content.remaining()) return null;
    int contentEnd = start + LEAD_BYTES + length;
    if (content.getInt(start + 4) != crc(position, length, content.slice(start + LEAD_BYTES, length))) return null;
    int frameEnd = start + (int) align(LEAD_BYTES + (long) length);
    for (int i = contentEnd; i < frameEnd; i++) if (content.get(i) != 0) return null;
    int records = content.getInt(start + RECORDS_OFFSET - Integer.BYTES);
    return new FrameHeader(content.getLong(start + LEAD_BYTES), content.getLong(start + LEAD_BYTES + 8),
        content.getLong(start + LEAD_BYTES + 16),
        records > 0 ? FrameKind.RECORDS : FrameKind.values()[-records], Math.max(0, records), frameEnd - start);
  }

  private static int crc(FramePosition position, int length, ByteBuffer content) {
    return Checksum
        .of(ByteBuffer.allocate(20).putLong(position.storeId).putInt(position.segment).putInt(position.offset)
            .putInt(length).flip(), content);
  }
}
