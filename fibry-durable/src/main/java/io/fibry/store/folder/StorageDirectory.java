package io.fibry.store.folder;

import io.fibry.store.folder.disk.FileDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * The files of a store. The store uses its files only through this interface. A test can give the
 * store a disk that fails or loses its power. A program can give it a disk that encrypts. Several
 * threads use the files at the same time, but only one thread at a time writes to a given file.
 * Threads that load actors call only {@link #read}, also for a file that is being written.
 */
public interface StorageDirectory extends AutoCloseable {

  /**
   * Opens the files of a folder, for a disk of your own that delegates to them.
   *
   * @param folder the folder; created if it does not exist
   * @return the disk, which locks the folder until it is closed
   * @throws io.fibry.store.StoreInUseException if the folder is locked
   * @throws IOException if the folder cannot be created or locked
   */
  static StorageDirectory open(Path folder) throws IOException {
    return FileDisk.open(folder);
  }

  /**
   * Returns the names of all files.
   *
   * @return the names, sorted
   * @throws IOException if they cannot be read
   */
  List<String> names() throws IOException;

  /**
   * Returns the size of a file.
   *
   * @param name the name of the file
   * @return its size in bytes
   * @throws IOException if the size cannot be read, or the file does not exist
   */
  long size(String name) throws IOException;

  /**
   * Creates a file of zeros, and replaces an existing file of that name. When this returns, the
   * content is on disk. The name may reach the disk only at the next {@link #syncDirectory}.
   *
   * @param name the name of the file
   * @param size its size in bytes
   * @throws IOException if the file cannot be created; a part of it may exist
   */
  void create(String name, long size) throws IOException;

  /**
   * Writes bytes into a file.
   *
   * @param name the name of the file
   * @param offset the offset in the file
   * @param bytes the bytes from the buffer's position to its limit; the position does not change
   * @throws IOException if the write fails; a part of the bytes may be written
   */
  void write(String name, long offset, ByteBuffer bytes) throws IOException;

  /**
   * Waits until all that was written to a file is on disk.
   *
   * @param name the name of the file
   * @throws IOException if the sync fails; then it is unknown which bytes are on disk
   */
  void sync(String name) throws IOException;

  /**
   * Called when a file will not be written any more, so that it can be closed.
   *
   * @param name the name of the file
   * @throws IOException if it cannot be closed
   */
  void finish(String name) throws IOException;

  /**
   * Gives a file another name, and replaces an existing file of that name.
   *
   * @param oldName the current name of the file
   * @param newName its new name
   * @throws IOException if the file cannot be renamed
   */
  void rename(String oldName, String newName) throws IOException;

  /**
   * Deletes a file, if it exists.
   *
   * @param name the name of the file
   * @throws IOException if the file exists and cannot be deleted
   */
  void delete(String name) throws IOException;

  /**
   * Waits until the names of all files are on disk.
   *
   * @throws IOException if the sync fails
   */
  void syncDirectory() throws IOException;

  /**
   * Reads from a file until the buffer is full, or the file ends. An interrupt of the calling
   * thread must have no effect.
   *
   * @param name the name of the file
   * @param offset the offset in the file
   * @param target the buffer that is filled
   * @throws IOException if the read fails
   */
  void read(String name, long offset, ByteBuffer target) throws IOException;

  @Override
  void close() throws IOException;
}
