package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Makes files that exist as a whole, or not at all. */
final class AtomicFile {
  static final String UNFINISHED_SUFFIX = ".new"; // the end of the names of files that are not whole yet

  private AtomicFile() {}

  /** When it answers, the file is on disk, with zeros behind its beginning. */
  static void create(StorageDirectory disk, String name, int size, ByteBuffer beginning) throws IOException {
    write(disk, name, size, beginning);
    publish(disk, name);
    disk.syncDirectory();
  }

  /** When it answers, the file is on disk, but has not its name. */
  static void write(StorageDirectory disk, String name, int size, ByteBuffer beginning) throws IOException {
    String unready = name + UNFINISHED_SUFFIX;
    disk.create(unready, size);
    disk.write(unready, 0, beginning);
    disk.sync(unready);
  }

  /** It takes the place of one with its name, if any. */
  static void publish(StorageDirectory disk, String name) throws IOException {
    disk.rename(name + UNFINISHED_SUFFIX, name);
  }
}
