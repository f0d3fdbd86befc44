package io.fibry.store.folder.disk;

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
 * Gives a folder to one store at a time. The folder is guarded by an operating-system lock on a
 * file, and by the id of the owner in that file. The id is needed because the operating system
 * releases the lock as soon as any code of this process, such as a backup tool, closes the file.
 * Another process can then lock the folder.
 *
 * <p>A new owner writes its id before it reads anything else. The old owner reads the id before
 * each write. After each sync of a file, it reads the id and the identity of the lock file.
 * Therefore the new owner sees each turn that the old owner acknowledged after a sync. If the lock
 * file was deleted, the old owner notices it at its next sync, and may write until then.
 */
final class FolderLock implements AutoCloseable {
  static final String FILE = "store.lock";
  private static final String STOP_EXPLANATION = "This store stops writing: two writers would destroy the folder";
  private static final int MAX_OWNER_BYTES = 128; // the id of an owner is shorter

  // Real paths of the folders that this process has open.
  private static final Set<Path> OPEN_FOLDERS = ConcurrentHashMap.newKeySet();

  private final Path folder;
  private final Path realPath;
  private final Optional<FileChannel> channel; // of the lock file; empty if the folder has none and is only read
  private final byte[] ownerId;
  private final Object fileKey; // identifies the lock file in the operating system, or null if there is no file

  private FolderLock(Path folder, Path realPath, Optional<FileChannel> channel, byte[] ownerId) throws IOException {
    this.folder = folder;
    this.realPath = realPath;
    this.channel = channel;
    this.ownerId = ownerId;
    this.fileKey = fileKey();
  }

  /**
   * Locks the folder for reading and writing.
   *
   * @throws StoreInUseException if another store, or a reader, has the folder open
   */
  static FolderLock lockForWriting(Path folder) throws IOException {
    return lockOnce(folder, FolderLock::openForWriting);
  }

  /**
   * Locks the folder for reading only, and changes no file. Other processes can read it, too.
   *
   * @throws StoreInUseException if a store has the folder open
   */
  static FolderLock lockForReading(Path folder) throws IOException {
    return lockOnce(folder, FolderLock::openForReading);
  }

  private interface LockAttempt {
    FolderLock lock(Path folder, Path realPath) throws IOException;
  }

  private static FolderLock lockOnce(Path folder, LockAttempt attempt) throws IOException {
    var realPath = folder.toRealPath();
    if (!OPEN_FOLDERS.add(realPath)) throw inUseException(folder, " by this process");
    try {
      return attempt.lock(folder, realPath);
    } catch (Throwable failure) {
      OPEN_FOLDERS.remove(realPath);
      throw failure;
    }
  }

  private static FolderLock openForWriting(Path folder, Path realPath) throws IOException {
    var channel = FileChannel.open(folder.resolve(FILE),
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
        PrivateFolder.permissionAttributes(folder, "rw-------"));
    try {
      if (!tryLock(channel, false)) throw inUseException(folder, holder(channel));
      var ownerId = (ProcessHandle.current().pid() + " " + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(ownerId), 0);
      return new FolderLock(folder, realPath, Optional.of(channel), ownerId);
    } catch (Throwable failure) {
      channel.close();
      throw failure;
    }
  }

  private static FolderLock openForReading(Path folder, Path realPath) throws IOException {
    if (!Files.isReadable(folder.resolve(FILE))) return new FolderLock(folder, realPath, Optional.empty(), new byte[0]);
    var channel = FileChannel.open(folder.resolve(FILE), StandardOpenOption.READ);
    try {
      if (!tryLock(channel, true)) throw inUseException(folder, holder(channel));
      return new FolderLock(folder, realPath, Optional.of(channel), new byte[0]);
    } catch (Throwable failure) {
      channel.close();
      throw failure;
    }
  }

  private static boolean tryLock(FileChannel channel, boolean shared) throws IOException {
    try {
      return channel.tryLock(0, Long.MAX_VALUE, shared) != null;
    } catch (OverlappingFileLockException lockedHere) {
      return false;
    }
  }

  private static StoreInUseException inUseException(Path folder, String holder) {
    return new StoreInUseException(
        folder + " is in use" + holder + "; close that store first: two writers would destroy it");
  }

  private static byte[] readOwnerId(FileChannel channel) throws IOException {
    var bytes = ByteBuffer.allocate(MAX_OWNER_BYTES);
    int size = 0;
    for (int count; size < MAX_OWNER_BYTES && (count = channel.read(bytes, size)) > 0;) size += count;
    return Arrays.copyOf(bytes.array(), size);
  }

  private static String holder(FileChannel channel) {
    try {
      return " by process " + processOf(readOwnerId(channel));
    } catch (IOException unreadable) { // on Windows, no other process can read a locked file
      return "";
    }
  }

  private static String processOf(byte[] ownerId) {
    return new String(ownerId, StandardCharsets.US_ASCII).replaceAll("\\D.*", "");
  }

  // ---- checks

  /** Throws if the lock file has the id of another owner. */
  void check() throws IOException {
    var currentOwner = readOwnerId(channel.orElseThrow());
    if (!Arrays.equals(currentOwner, ownerId)) throw takenException(" by process " + processOf(currentOwner));
  }

  /** Throws if the lock file has the id of another owner, or was deleted or replaced. */
  void checkFile() throws IOException {
    check();
    try {
      if (Objects.equals(fileKey, fileKey())) return;
    } catch (NoSuchFileException missingFile) {
      throw new FolderTakenException(
          folder + " is no longer locked, because " + FILE + " was deleted. " + STOP_EXPLANATION);
    }
    throw takenException(" by process " + processOf(Files.readAllBytes(folder.resolve(FILE))));
  }

  private Object fileKey() throws IOException {
    return channel.isEmpty() ? null : Files.readAttributes(folder.resolve(FILE), BasicFileAttributes.class).fileKey();
  }

  private FolderTakenException takenException(String holder) {
    return new FolderTakenException(folder + " was locked" + holder + ", because " + FILE
        + " was deleted, or code of this process opened and closed it. " + STOP_EXPLANATION);
  }

  @Override
  public void close() throws IOException {
    try {
      if (channel.isPresent()) channel.get().close();
    } finally {
      OPEN_FOLDERS.remove(realPath);
    }
  }
}
