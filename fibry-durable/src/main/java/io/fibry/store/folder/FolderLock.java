package io.fibry.store.folder;

import io.fibry.store.StoreInUseException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Gives a folder to one store at a time. Two things guard it: an operating-system lock on a file,
 * and the id of the owner in that file. The id is needed because the operating system releases the
 * lock as soon as any code of this process, such as a backup tool, opens and closes the file.
 * Another process can then lock the folder.
 *
 * <p>A new owner writes its id before it reads anything else. The old owner reads the id before
 * each write, and the id and the identity of the file after each force of a file. Therefore the new
 * owner sees each turn that the old owner acknowledged after a force. If the file was deleted, the
 * old owner notices it at its next force, so it may write until then.
 */
final class FolderLock implements AutoCloseable {
  static final String FILE = "store.lock";
  private static final String STOP_EXPLANATION = "This store stops writing: two writers would destroy the folder";
  private static final int MAX_OWNER_BYTES = 128; // of the id of an owner

  // Real paths of the folders that are open in this process.
  private static final Set<Path> OPEN_FOLDERS = ConcurrentHashMap.newKeySet();

  private final Path folder;
  private final Path real;
  private final Optional<FileChannel> file; // empty: there is none, and the folder is only read
  private final byte[] owner;
  private final Object fileKey; // the key of the file in the operating system, or null if there is none

  private FolderLock(Path folder, Path real, Optional<FileChannel> file, byte[] owner) throws IOException {
    this.folder = folder;
    this.real = real;
    this.file = file;
    this.owner = owner;
    this.fileKey = fileKey();
  }

  /**
   * Locks the folder to read and to write.
   *
   * @throws StoreInUseException if another store, or a reader, has the folder open
   */
  static FolderLock lockForWriting(Path folder) throws IOException {
    return locked(folder, FolderLock::writable);
  }

  /**
   * Locks the folder to read only: this makes and changes nothing. Others can read it, too.
   *
   * @throws StoreInUseException if a store has the folder
   */
  static FolderLock lockForReading(Path folder) throws IOException {
    return locked(folder, FolderLock::readable);
  }

  private interface LockAttempt {
    FolderLock lock(Path folder, Path real) throws IOException;
  }

  private static FolderLock locked(Path folder, LockAttempt locking) throws IOException {
    var real = folder.toRealPath();
    if (!OPEN_FOLDERS.add(real)) throw inUseException(folder, " by this process");
    try {
      return locking.lock(folder, real);
    } catch (Throwable failure) {
      OPEN_FOLDERS.remove(real);
      throw failure;
    }
  }

  private static FolderLock writable(Path folder, Path real) throws IOException {
    var file = FileChannel.open(folder.resolve(FILE),
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
        PrivateFolder.ownersOnly(folder, "rw-------"));
    try {
      if (!tryLock(file, false)) throw inUseException(folder, holder(file));
      var owner = (ProcessHandle.current().pid() + " " + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
      file.truncate(0);
      file.write(ByteBuffer.wrap(owner), 0);
      return new FolderLock(folder, real, Optional.of(file), owner);
    } catch (Throwable failure) {
      file.close();
      throw failure;
    }
  }

  private static FolderLock readable(Path folder, Path real) throws IOException {
    if (!Files.isReadable(folder.resolve(FILE))) return new FolderLock(folder, real, Optional.empty(), new byte[0]);
    var file = FileChannel.open(folder.resolve(FILE), StandardOpenOption.READ);
    try {
      if (!tryLock(file, true)) throw inUseException(folder, holder(file));
      return new FolderLock(folder, real, Optional.of(file), new byte[0]);
    } catch (Throwable failure) {
      file.close();
      throw failure;
    }
  }

  private static boolean tryLock(FileChannel file, boolean shared) throws IOException {
    try {
      return file.tryLock(0, Long.MAX_VALUE, shared) != null;
    } catch (OverlappingFileLockException byUs) {
      return false;
    }
  }

  private static StoreInUseException inUseException(Path folder, String holder) {
    return new StoreInUseException(
        folder + " is in use" + holder + "; close that store first: two writers would destroy it");
  }

  private static byte[] read(FileChannel file) throws IOException {
    var bytes = ByteBuffer.allocate(MAX_OWNER_BYTES);
    int size = 0;
    for (int read; size < MAX_OWNER_BYTES && (read = file.read(bytes, size)) > 0;) size += read;
    return Arrays.copyOf(bytes.array(), size);
  }

  private static String holder(FileChannel file) {
    try {
      return " by process " + process(read(file));
    } catch (IOException locked) { // on Windows, no other process can read a locked file
      return "";
    }
  }

  private static String process(byte[] owner) {
    return new String(owner, StandardCharsets.US_ASCII).replaceAll("\\D.*", "");
  }

  // ---- checks

  /** Fails if another process has taken the folder. */
  void check() throws IOException {
    var now = read(file.orElseThrow());
    if (!Arrays.equals(now, owner)) throw takenException(" by process " + process(now));
  }

  /** Fails if another process owns the folder, or if the lock file was deleted or replaced. */
  void checkFile() throws IOException {
    check();
    try {
      if (Objects.equals(fileKey, fileKey())) return;
    } catch (NoSuchFileException deleted) {
      throw new FolderTakenException(
          folder + " is not locked any more, because somebody deleted " + FILE + ". " + STOP_EXPLANATION);
    }
    throw takenException(" by process " + process(Files.readAllBytes(folder.resolve(FILE))));
  }

  private Object fileKey() throws IOException {
    return file.isEmpty() ? null : Files.readAttributes(folder.resolve(FILE), BasicFileAttributes.class).fileKey();
  }

  private FolderTakenException takenException(String by) {
    return new FolderTakenException(folder + " was locked" + by + ", because somebody deleted " + FILE
        + ", or code of this process opened and closed it. " + STOP_EXPLANATION);
  }

  @Override
  public void close() throws IOException {
    if (file.isPresent()) file.get().close();
    OPEN_FOLDERS.remove(real);
  }
}
