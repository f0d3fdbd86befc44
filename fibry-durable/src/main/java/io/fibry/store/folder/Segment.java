package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Locale;

/**
 * A file of the log: a header, frames one behind the other, zeros. It is filled with zeros when it
 * is made, so that a frame changes no size, and needs one write and one force.
 */
record Segment(long store, int number) {
  static final int HEADER = 32;
  static final int FORMAT = 1;
  private static final long MAGIC = 0x46696272794c6f67L; // "FibryLog"
  private static final String LOG = ".log";

  String name() {
    return nameOf(number);
  }

  static String nameOf(int number) {
    return String.format(Locale.ROOT, "%08d%s", number, LOG);
  }

  static boolean isName(String name) {
    return name.length() == 8 + LOG.length() && name.endsWith(LOG) && name.substring(0, 8).matches("\\d{8}");
  }

  /** Of a name of a segment. */
  static int numberOf(String name) {
    return Integer.parseInt(name.substring(0, 8));
  }

  Segment before() {
    return new Segment(store, number - 1);
  }

  Segment after() {
    return new Segment(store, number + 1);
  }

  Frame.Place place(int offset) {
    return new Frame.Place(store, number, offset);
  }

  /** When it answers, the segment is on disk. */
  void make(Disk disk, int size) throws IOException {
    NewFile.make(disk, name(), size, header(size));
  }

  private ByteBuffer header(int size) {
    var header = ByteBuffer.allocate(HEADER).putLong(MAGIC).putInt(FORMAT).putLong(store).putInt(number).putInt(size);
    return header.putInt(Checksum.of(header.duplicate().flip())).flip();
  }

  /** The whole file. */
  ByteBuffer read(Disk disk) throws IOException {
    var file = ByteBuffer.allocate(Math.toIntExact(disk.size(name())));
    disk.read(name(), 0, file);
    return file.flip();
  }

  /** Null: this is a whole file of this segment. Otherwise how it differs. */
  String differs(ByteBuffer file) {
    if (file.limit() < HEADER) return "it has only " + file.limit() + " bytes";
    if (file.getLong(0) != MAGIC) return "it is no segment of a log";
    if (file.getInt(28) != Checksum.of(file.slice(0, 28))) return "the checksum of its header is wrong";
    if (file.getInt(8) != FORMAT) return "it has format " + file.getInt(8) + "; this version reads format " + FORMAT;
    if (file.getLong(12) != store) return "it is of another store";
    if (file.getInt(20) != number) return "it is segment " + file.getInt(20);
    if (file.getInt(24) != file.limit()) return "it has " + file.limit() + " bytes, not " + file.getInt(24);
    return null;
  }
}
