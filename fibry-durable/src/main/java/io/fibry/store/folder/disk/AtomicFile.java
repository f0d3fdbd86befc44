package io.fibry.store.folder.disk;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Creates files that have their name only when their content is complete and on disk. */
public final class AtomicFile {
  public static final String UNFINISHED_SUFFIX = ".new"; // the suffix of files that are not complete

  private AtomicFile() {}

  /**
   * Creates a file that begins with these bytes and continues with zeros. When this returns, the
   * file and its name are on disk.
   */
  public static void create(StorageDirectory disk, String name, int size, ByteBuffer beginning) throws IOException {
    write(disk, name, size, beginning);
    publish(disk, name);
    disk.syncDirectory();
  }

  /** Writes a file under its unfinished name. When this returns, the content is on disk. */
  public static void write(StorageDirectory disk, String name, int size, ByteBuffer beginning) throws IOException {
    String unfinished = name + UNFINISHED_SUFFIX;
    disk.create(unfinished, size);
    disk.write(unfinished, 0, beginning);
    disk.sync(unfinished);
  }

  /** Gives an unfinished file its final name, and replaces an existing file of that name. */
  public static void publish(StorageDirectory disk, String name) throws IOException {
    disk.rename(name + UNFINISHED_SUFFIX, name);
  }
}
