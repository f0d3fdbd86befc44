package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * The only door to the files of a store. A test can put another disk behind it, which fails or
 * loses its power, and a program can put a disk behind it that encrypts. Different files are used
 * by different threads at once. No thread of a user comes here but by {@link #read}.
 */
public interface StorageDirectory extends AutoCloseable {

  /**
   * The files of a folder, for a disk of your own that stands in front of them.
   *
   * @param folder where they are; made if there is none
   * @return the disk, which has the folder locked until it is closed
   * @throws io.fibry.store.StoreInUseException if the folder is locked
   * @throws IOException if that fails
   */
  static StorageDirectory open(Path folder) throws IOException {
    return FileDisk.open(folder);
  }

  /**
   * The files.
   *
   * @return their names, sorted
   * @throws IOException if that fails
   */
  List<String> names() throws IOException;

  /**
   * The size of a file.
   *
   * @param name of the file
   * @return its size in bytes
   * @throws IOException if that fails, or there is no such file
   */
  long size(String name) throws IOException;

  /**
   * Makes a file of zeros, in place of one of that name. Its content is on disk when this returns,
   * its name perhaps not.
   *
   * @param name of the file
   * @param size in bytes
   * @throws IOException if that fails; a part of the file may be there
   */
  void create(String name, long size) throws IOException;

  /**
   * Writes into a file.
   *
   * @param name of the file
   * @param at where
   * @param bytes from its position to its limit, which stay
   * @throws IOException if that fails; a part may be written
   */
  void write(String name, long at, ByteBuffer bytes) throws IOException;

  /**
   * Waits until all that was written to a file is on disk.
   *
   * @param name of the file
   * @throws IOException if that fails: then nobody knows what is on disk
   */
  void sync(String name) throws IOException;

  /**
   * Says that a file will not be written any more.
   *
   * @param name of the file
   * @throws IOException if it cannot be closed
   */
  void finish(String name) throws IOException;

  /**
   * Gives a file another name, in place of the file that has it, if any.
   *
   * @param from its name
   * @param to its name from now on
   * @throws IOException if that fails
   */
  void rename(String from, String to) throws IOException;

  /**
   * Deletes a file, if it exists.
   *
   * @param name of the file
   * @throws IOException if that fails
   */
  void delete(String name) throws IOException;

  /**
   * Waits until all names are on disk.
   *
   * @throws IOException if that fails
   */
  void syncDirectory() throws IOException;

  /**
   * Reads from a file. An interrupt of the thread harms nothing.
   *
   * @param name of the file
   * @param at where
   * @param into is filled, or up to the end of the file
   * @throws IOException if that fails
   */
  void read(String name, long at, ByteBuffer into) throws IOException;

  @Override
  void close() throws IOException;
}
