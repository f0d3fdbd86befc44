package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Makes files that exist as a whole, or not at all. */
final class AtomicFile {
  static final String UNREADY = ".new"; // the end of the names of files that are not whole yet

  private AtomicFile() {}

  /** When it answers, the file is on disk, with zeros behind its beginning. */
  static void make(StorageDirectory disk, String name, int size, ByteBuffer beginning) throws IOException {
    prepare(disk, name, size, beginning);
    show(disk, name);
    disk.syncDirectory();
  }

  /** When it answers, the file is on disk, but has not its name. */
  static void prepare(StorageDirectory disk, String name, int size, ByteBuffer beginning) throws IOException {
    String unready = name + UNREADY;
    disk.create(unready, size);
    disk.write(unready, 0, beginning);
    disk.sync(unready);
  }

  /** It takes the place of one with its name, if any. */
  static void show(StorageDirectory disk, String name) throws IOException {
    disk.rename(name + UNREADY, name);
  }
}
