package io.fibry.store.folder.disk;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The files of a folder, which is locked while this disk is open. Only the user of the process can
 * read new files, if the file system has POSIX permissions. Reads do not use a channel, because the
 * interrupt of one thread closes a channel for all threads.
 */
public final class FileDisk implements StorageDirectory {
  private static final int BLOCK = 1 << 16; // bytes of zeros in one write
  // Bytes between two syncs of a new file. Syncs of other files wait for these syncs, so each is
  // short.
  private static final int SYNC_BYTES = 1 << 22;
  private static final Set<StandardOpenOption> WRITE_OPTIONS =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);

  /** Opens the channel of a file. */
  interface ChannelOpener {
    FileChannel open(Path file, Set<StandardOpenOption> options, FileAttribute<?>... attributes) throws IOException;
  }

  private final Path folder;
  private final FolderLock lock;
  private final FileAttribute<?>[] attributes; // the permissions of new files
  private final ChannelOpener opener;
  private final ConcurrentHashMap<String, FileChannel> openChannels = new ConcurrentHashMap<>(); // open files by name

  private FileDisk(Path folder, FolderLock lock, ChannelOpener opener) {
    this.folder = folder;
    this.lock = lock;
    this.opener = opener;
    this.attributes = PrivateFolder.permissionAttributes(folder, "rw-------");
  }

  /**
   * Opens a folder, and creates it if it does not exist.
   *
   * @throws io.fibry.store.StoreInUseException if the folder is locked
   */
  public static FileDisk open(Path folder) throws IOException {
    return open(folder, FileChannel::open);
  }

  /** Opens a folder; a test gives an opener that returns other channels. */
  static FileDisk open(Path folder, ChannelOpener opener) throws IOException {
    PrivateFolder.create(folder);
    return new FileDisk(folder, FolderLock.lockForWriting(folder), opener);
  }

  /**
   * Opens a folder for reading only: no file is created or changed. Other processes can read it at
   * the same time.
   *
   * @throws io.fibry.store.StoreInUseException if a store has the folder open
   */
  public static FileDisk openReadOnly(Path folder) throws IOException {
    return new FileDisk(folder, FolderLock.lockForReading(folder), FileChannel::open);
  }

  @Override
  public List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).filter(name -> !name.equals(FolderLock.FILE)).sorted()
          .toList();
    }
  }

  @Override
  public long size(String name) throws IOException {
    return Files.size(folder.resolve(name));
  }

  @Override
  public void create(String name, long size) throws IOException {
    lock.checkFile();
    delete(name);
    var channel = channel(name);
    var zeros = ByteBuffer.allocateDirect(BLOCK);
    for (long offset = 0; offset < size; offset += BLOCK) {
      writeAll(channel, offset, zeros.clear().limit((int) Math.min(BLOCK, size - offset)));
      if ((offset + BLOCK) % SYNC_BYTES == 0) channel.force(false);
    }
    channel.force(true);
  }

  @Override
  public void write(String name, long offset, ByteBuffer bytes) throws IOException {
    lock.check();
    writeAll(channel(name), offset, bytes.duplicate());
  }

  private static void writeAll(FileChannel channel, long offset, ByteBuffer bytes) throws IOException {
    for (long position = offset; bytes.hasRemaining();) position += channel.write(bytes, position);
  }

  @Override
  public void sync(String name) throws IOException {
    channel(name).force(false);
    // If another process owns the folder now, it may not have read these bytes: they must not count
    // as stored.
    lock.checkFile();
  }

  private FileChannel channel(String name) throws IOException {
    var openChannel = openChannels.get(name);
    if (openChannel != null) return openChannel;
    var newChannel = opener.open(folder.resolve(name), WRITE_OPTIONS, attributes);
    var otherChannel = openChannels.putIfAbsent(name, newChannel);
    if (otherChannel == null) return newChannel;
    newChannel.close();
    return otherChannel;
  }

  @Override
  public void finish(String name) throws IOException {
    var channel = openChannels.remove(name);
    if (channel != null) channel.close();
  }

  @Override
  public void rename(String oldName, String newName) throws IOException {
    lock.check();
    finish(oldName);
    finish(newName);
    Files.move(folder.resolve(oldName), folder.resolve(newName), StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public void delete(String name) throws IOException {
    lock.check();
    finish(name);
    Files.deleteIfExists(folder.resolve(name));
  }

  @Override
  public void syncDirectory() throws IOException {
    PrivateFolder.sync(folder);
  }

  @Override
  public void read(String name, long offset, ByteBuffer target) throws IOException {
    try (var file = new RandomAccessFile(folder.resolve(name).toFile(), "r")) {
      file.seek(offset);
      while (target.hasRemaining()) {
        int count = file.read(target.array(), target.arrayOffset() + target.position(), target.remaining());
        if (count < 0) return;
        target.position(target.position() + count);
      }
    }
  }

  /**
   * Closes all files and unlocks the folder, even if the close of a file fails. Throws the first
   * failure, with the others suppressed in it.
   */
  @Override
  public void close() throws IOException {
    IOException firstFailure = null;
    try (lock) {
      for (var name : List.copyOf(openChannels.keySet())) {
        try {
          finish(name);
        } catch (IOException failure) {
          if (firstFailure == null) firstFailure = failure;
          else firstFailure.addSuppressed(failure);
        }
      }
      if (firstFailure != null) throw firstFailure;
    }
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
