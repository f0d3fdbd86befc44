package io.fibry.store.folder;

import io.fibry.store.StoreDamagedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/** The file that makes a folder a store: a number that each of its frames has in its checksum. */
final class StoreIdFile {
  static final String NAME = "store.id";
  private static final long MAGIC = 0x4669627279496421L; // "FibryId!"
  private static final long UNFINISHED = 0x466962727948616cL; // "FibryHal"
  private static final int SIZE = 24;

  private StoreIdFile() {}

  /** Makes a new store of a folder that is none: the first segment, then this file. */
  static long open(StorageDirectory disk, int segment) throws IOException {
    var names = disk.names();
    if (names.contains(NAME)) return read(disk);
    for (var name : names) if (Segment.isName(name) && !isBlank(disk, name))
      throw new StoreDamagedException(
          disk + " has segments of a log, but no " + NAME + "; put back a copy of that file");
    long id = new SecureRandom().nextLong();
    new Segment(id, 1).create(disk, segment); // in place of a segment whose store was not ready
    write(disk, id);
    return id;
  }

  /** Makes the folder a store. */
  static void write(StorageDirectory disk, long id) throws IOException {
    var bytes = ByteBuffer.allocate(SIZE).putLong(MAGIC).putInt(Segment.FORMAT).putLong(id);
    AtomicFile.create(disk, NAME, SIZE, bytes.putInt(Checksum.of(bytes.duplicate().flip())).flip());
  }

  /**
   * Until it is written again, the folder is a copy that is not finished.
   *
   * @param what cannot be done if it is not empty
   */
  static void markUnfinished(StorageDirectory disk, String what) throws IOException {
    if (!disk.names().isEmpty()) throw new IllegalArgumentException(
        what + " to " + disk + ", which has files already; give an empty folder");
    AtomicFile.create(disk, NAME, SIZE, ByteBuffer.allocate(SIZE).putLong(UNFINISHED).flip());
  }

  /** Whether it was never written to. */
  private static boolean isBlank(StorageDirectory disk, String segment) throws IOException {
    return LogReader.lastNonZero(new Segment(0, Segment.numberOf(segment)).read(disk)) < Segment.HEADER;
  }

  static long read(StorageDirectory disk) throws IOException {
    var bytes = ByteBuffer.allocate(SIZE);
    disk.read(NAME, 0, bytes);
    if (bytes.position() >= Long.BYTES && bytes.getLong(0) == UNFINISHED) throw new StoreDamagedException(
        disk + " has a copy that was not finished; empty the folder, and copy again");
    if (bytes.hasRemaining() || bytes.getLong(0) != MAGIC
        || bytes.getInt(SIZE - 4) != Checksum.of(bytes.slice(0, SIZE - 4)))
      throw new StoreDamagedException(disk + ": " + NAME + " is damaged; put back a copy of that file");
    int format = bytes.getInt(8);
    if (format != Segment.FORMAT) throw new StoreDamagedException(
        disk + " has format " + format + "; this version reads format " + Segment.FORMAT);
    return bytes.getLong(12);
  }
}
