package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * A file of the log: a header, frames one behind the other, zeros. It is filled with zeros when it
 * is made, so that a frame changes no size, and needs one write and one force.
 *
 * <pre>
 * magic 8 | format 4 | store 8 | first 4 | number 4 | size 4 | compact 4 | crc 4
 * </pre>
 *
 * @param first the number of the first segment that it stands for: it takes the place of those from
 * this one to its own number
 * @param compact whether dead records were left out, so the numbers of its frames have gaps
 */
record Segment(long store, int first, int number, boolean compact) {
  static final int HEADER = 40;
  private static final int CHECKED_BYTES = HEADER - Integer.BYTES; // bytes of the header that its crc covers
  static final int FORMAT = 1;
  private static final long MAGIC = 0x46696272794c6f67L; // "FibryLog"
  private static final String LOG = ".log";

  Segment(long store, int number) {
    this(store, number, number, false);
  }

  /** A file, as its header says; a plain segment if that is damaged. */
  static Segment of(StorageDirectory disk, long store, int number) throws IOException {
    var header = ByteBuffer.allocate(HEADER);
    disk.read(nameOf(number), 0, header);
    if (header.hasRemaining() || !isWhole(header) || header.getInt(24) != number) return new Segment(store, number);
    return new Segment(store, header.getInt(20), number, header.getInt(32) != 0);
  }

  static List<Integer> numbers(StorageDirectory disk) throws IOException {
    return disk.names().stream().filter(Segment::isName).map(Segment::numberOf).toList();
  }

  /**
   * Returns the segments of a log, oldest first, without those that another segment stands for.
   *
   * @param replaced gets the names of the latter
   */
  static List<Segment> all(StorageDirectory disk, long store, Consumer<String> replaced) throws IOException {
    var segments = new ArrayDeque<Segment>();
    for (var number : numbers(disk).reversed()) {
      if (!segments.isEmpty() && number >= segments.getFirst().first()) replaced.accept(nameOf(number));
      else segments.addFirst(of(disk, store, number));
    }
    return List.copyOf(segments);
  }

  /** Whether a header is whole. */
  static boolean isWhole(ByteBuffer file) {
    return file.getInt(CHECKED_BYTES) == Checksum.of(file.slice(0, CHECKED_BYTES));
  }

  String name() {
    return nameOf(number);
  }

  static String nameOf(int number) {
    return String.format(Locale.ROOT, "%08d%s", number, LOG);
  }

  static boolean isName(String name) {
    return name.length() == 8 + LOG.length() && name.endsWith(LOG) && name.substring(0, 8).matches("\\d{8}");
  }

  /** Returns the number in the name of a segment. */
  static int numberOf(String name) {
    return Integer.parseInt(name.substring(0, 8));
  }

  Segment next() {
    return new Segment(store, number + 1);
  }

  Frame.FramePosition place(int offset) {
    return new Frame.FramePosition(store, number, offset);
  }

  /** When it answers, the segment is on disk. */
  void create(StorageDirectory disk, int size) throws IOException {
    AtomicFile.create(disk, name(), size, header(size));
  }

  ByteBuffer header(int size) {
    var header = ByteBuffer.allocate(HEADER).putLong(MAGIC).putInt(FORMAT).putLong(store).putInt(first).putInt(number)
        .putInt(size).putInt(compact ? 1 : 0);
    return header.putInt(Checksum.of(header.duplicate().flip())).flip();
  }

  /** The whole file. */
  ByteBuffer read(StorageDirectory disk) throws IOException {
    var file = ByteBuffer.allocate(Math.toIntExact(disk.size(name())));
    disk.read(name(), 0, file);
    return file.flip();
  }

  /**
   * Returns null if a file of this size with this beginning belongs to this segment. Otherwise how
   * it differs.
   */
  String difference(ByteBuffer header, int size) {
    if (size < HEADER) return "it has only " + size + " bytes";
    if (header.getLong(0) != MAGIC) return "it is no segment of a log";
    if (!isWhole(header)) return "the checksum of its header is wrong";
    if (header.getInt(8) != FORMAT)
      return "it has format " + header.getInt(8) + "; this version reads format " + FORMAT;
    if (header.getLong(12) != store) return "it is of another store";
    if (header.getInt(24) != number) return "it is segment " + header.getInt(24);
    if (header.getInt(28) != size) return "it has " + size + " bytes, not " + header.getInt(28);
    return null;
  }
}
