package io.fibry.store.folder.log;

import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * A file of the log: a header, frames, and zeros up to the end. The file is filled with zeros when
 * it is created. A frame thus does not change the size of the file, and needs only one write and
 * one sync. The header has these fields, with their sizes in bytes:
 *
 * <pre>
 * magic 8 | format 4 | store 8 | first 4 | number 4 | size 4 | compact 4 | crc 4
 * </pre>
 *
 * @param storeId the id of the store
 * @param firstReplaced the number of the first segment that this segment replaces: this segment has
 * the live records of all segments from that number to its own number
 * @param number the number of the segment
 * @param isCompact whether the segment was rewritten without dead records, so that the numbers of
 * its frames may have gaps
 */
public record Segment(long storeId, int firstReplaced, int number, boolean isCompact) {
  public static final int HEADER = 40; // bytes
  private static final int CHECKED_BYTES = HEADER - Integer.BYTES; // bytes of the header that its crc covers
  static final int FORMAT = 1; // version of the format
  private static final long MAGIC = 0x46696272794c6f67L; // "FibryLog"
  private static final String SUFFIX = ".log";

  public Segment(long storeId, int number) {
    this(storeId, number, number, false);
  }

  /**
   * Returns the segment that the header of a file describes. If the header is damaged, returns a
   * segment that is not compacted; {@link #difference} then describes the damage.
   */
  static Segment of(StorageDirectory disk, long storeId, int number) throws IOException {
    var header = ByteBuffer.allocate(HEADER);
    disk.read(nameOf(number), 0, header);
    if (header.hasRemaining() || !isIntact(header) || header.getInt(24) != number) return new Segment(storeId, number);
    return new Segment(storeId, header.getInt(20), number, header.getInt(32) != 0);
  }

  /** Returns the numbers of all files of the log, ascending. */
  public static List<Integer> numbers(StorageDirectory disk) throws IOException {
    return disk.names().stream().filter(Segment::isName).map(Segment::numberOf).toList();
  }

  /**
   * Returns the segments of a log that no other segment replaces, oldest first.
   *
   * @param onReplaced receives the file name of each replaced segment
   */
  public static List<Segment> all(StorageDirectory disk, long storeId, Consumer<String> onReplaced) throws IOException {
    var segments = new ArrayDeque<Segment>();
    for (var number : numbers(disk).reversed()) {
      if (!segments.isEmpty() && number >= segments.getFirst().firstReplaced()) onReplaced.accept(nameOf(number));
      else segments.addFirst(of(disk, storeId, number));
    }
    return List.copyOf(segments);
  }

  /** Returns whether the header at the beginning of a file is intact. */
  public static boolean isIntact(ByteBuffer content) {
    return content.getInt(CHECKED_BYTES) == Checksum.of(content.slice(0, CHECKED_BYTES));
  }

  public String name() {
    return nameOf(number);
  }

  public static String nameOf(int number) {
    return String.format(Locale.ROOT, "%08d%s", number, SUFFIX);
  }

  public static boolean isName(String name) {
    return name.length() == 8 + SUFFIX.length() && name.endsWith(SUFFIX) && name.substring(0, 8).matches("\\d{8}");
  }

  /** Returns the number in the name of a segment. */
  static int numberOf(String name) {
    return Integer.parseInt(name.substring(0, 8));
  }

  Segment next() {
    return new Segment(storeId, number + 1);
  }

  public Frame.FramePosition position(int offset) {
    return new Frame.FramePosition(storeId, number, offset);
  }

  /** Creates the file. When this returns, the file and its name are on disk. */
  public void create(StorageDirectory disk, int size) throws IOException {
    AtomicFile.create(disk, name(), size, header(size));
  }

  public ByteBuffer header(int size) {
    var header =
        ByteBuffer.allocate(HEADER).putLong(MAGIC).putInt(FORMAT).putLong(storeId).putInt(firstReplaced).putInt(number)
            .putInt(size).putInt(isCompact ? 1 : 0);
    return header.putInt(Checksum.of(header.duplicate().flip())).flip();
  }

  /** Returns the content of the file. */
  public ByteBuffer read(StorageDirectory disk) throws IOException {
    var content = ByteBuffer.allocate(Math.toIntExact(disk.size(name())));
    disk.read(name(), 0, content);
    return content.flip();
  }

  /**
   * Describes why a file with this header and size is not this segment. Returns null if the file is
   * this segment.
   */
  public String difference(ByteBuffer header, int size) {
    if (size < HEADER) return "it has only " + size + " bytes";
    if (header.getLong(0) != MAGIC) return "it is not a segment of a log";
    if (!isIntact(header)) return "the checksum of its header is wrong";
    if (header.getInt(8) != FORMAT)
      return "it has format " + header.getInt(8) + "; this version reads format " + FORMAT;
    if (header.getLong(12) != storeId) return "it belongs to another store";
    if (header.getInt(24) != number) return "it is segment " + header.getInt(24);
    if (header.getInt(28) != size) return "it has " + size + " bytes, not " + header.getInt(28);
    return null;
  }
}
