package io.fibry.store.folder.log;

import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * The file that makes a folder a store. It has the id of the store: a random number that is in the
 * checksum of each frame.
 */
public final class StoreIdFile {
  public static final String NAME = "store.id";
  private static final long MAGIC = 0x4669627279496421L; // "FibryId!"
  private static final long UNFINISHED = 0x466962727948616cL; // "FibryHal": the folder has an unfinished copy
  private static final int SIZE = 24; // bytes

  private StoreIdFile() {}

  /**
   * Returns the id of the store. If the folder is no store yet, makes it a store: creates the first
   * segment, then this file.
   */
  public static long readOrCreate(StorageDirectory disk, int segmentBytes) throws IOException {
    var names = disk.names();
    if (names.contains(NAME)) return read(disk);
    for (var name : names) if (Segment.isName(name) && !isBlank(disk, name))
      throw new StoreDamagedException(
          disk + " has segments of a log, but no " + NAME + "; restore that file from a backup");
    long id = new SecureRandom().nextLong();
    // Replaces a blank first segment, which exists if a crash came before this file was written.
    new Segment(id, 1).create(disk, segmentBytes);
    write(disk, id);
    return id;
  }

  /** Writes the file, which makes the folder a store. */
  public static void write(StorageDirectory disk, long id) throws IOException {
    var bytes = ByteBuffer.allocate(SIZE).putLong(MAGIC).putInt(Segment.FORMAT).putLong(id);
    AtomicFile.create(disk, NAME, SIZE, bytes.putInt(Checksum.of(bytes.duplicate().flip())).flip());
  }

  /**
   * Writes a file that says that the folder has an unfinished copy, until {@link #write} replaces
   * it.
   *
   * @param failureText begins the text of the exception that is thrown if the folder is not empty
   */
  public static void markUnfinished(StorageDirectory disk, String failureText) throws IOException {
    if (!disk.names().isEmpty()) throw new IllegalArgumentException(
        failureText + " to " + disk + ", which has files already; give an empty folder");
    AtomicFile.create(disk, NAME, SIZE, ByteBuffer.allocate(SIZE).putLong(UNFINISHED).flip());
  }

  /** Returns whether a segment has no frames. */
  private static boolean isBlank(StorageDirectory disk, String fileName) throws IOException {
    return LogReader.lastNonZero(new Segment(0, Segment.numberOf(fileName)).read(disk)) < Segment.HEADER;
  }

  public static long read(StorageDirectory disk) throws IOException {
    var bytes = ByteBuffer.allocate(SIZE);
    disk.read(NAME, 0, bytes);
    if (bytes.position() >= Long.BYTES && bytes.getLong(0) == UNFINISHED) throw new StoreDamagedException(
        disk + " has a copy that was not finished; empty the folder, and copy again");
    if (bytes.hasRemaining() || bytes.getLong(0) != MAGIC
        || bytes.getInt(SIZE - 4) != Checksum.of(bytes.slice(0, SIZE - 4)))
      throw new StoreDamagedException(disk + ": " + NAME + " is damaged; restore that file from a backup");
    int format = bytes.getInt(8);
    if (format != Segment.FORMAT) throw new StoreDamagedException(
        disk + " has format " + format + "; this version reads format " + Segment.FORMAT);
    return bytes.getLong(12);
  }
}
