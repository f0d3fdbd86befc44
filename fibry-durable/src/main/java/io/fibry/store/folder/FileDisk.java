package io.fibry.store.folder;

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
 * The files of a folder, which it locks. Only the user of the process can read new files, if the
 * file system has POSIX permissions. Reads use no channel, since a channel is closed for all by one
 * thread that is interrupted.
 */
final class FileDisk implements StorageDirectory {
  private static final int BLOCK = 1 << 16;
  private static final int SYNC_BYTES = 1 << 22; // bytes at once: the forces of other files wait for them
  private static final Set<StandardOpenOption> TO_WRITE =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);

  private final Path folder;
  private final FolderLock lock;
  private final FileAttribute<?>[] attributes; // of new files
  private final ConcurrentHashMap<String, FileChannel> written = new ConcurrentHashMap<>();

  private FileDisk(Path folder, FolderLock lock) {
    this.folder = folder;
    this.lock = lock;
    this.attributes = PrivateFolder.ownersOnly(folder, "rw-------");
  }

  /**
   * Makes the folder if there is none.
   *
   * @throws io.fibry.store.StoreInUseException if it is locked
   */
  static FileDisk open(Path folder) throws IOException {
    PrivateFolder.create(folder);
    return new FileDisk(folder, FolderLock.lockForWriting(folder));
  }

  /**
   * Opens the disk for reading only, and makes and changes no file. Other processes can read at the
   * same time.
   *
   * @throws io.fibry.store.StoreInUseException if a store has it open
   */
  static FileDisk openReadOnly(Path folder) throws IOException {
    return new FileDisk(folder, FolderLock.lockForReading(folder));
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
    for (long at = 0; at < size; at += BLOCK) {
      writeAll(channel, at, zeros.clear().limit((int) Math.min(BLOCK, size - at)));
      if ((at + BLOCK) % SYNC_BYTES == 0) channel.force(false);
    }
    channel.force(true);
  }

  @Override
  public void write(String name, long at, ByteBuffer bytes) throws IOException {
    lock.check();
    writeAll(channel(name), at, bytes.duplicate());
  }

  private static void writeAll(FileChannel channel, long at, ByteBuffer bytes) throws IOException {
    for (long place = at; bytes.hasRemaining();) place += channel.write(bytes, place);
  }

  @Override
  public void sync(String name) throws IOException {
    channel(name).force(false);
    lock.checkFile(); // before a turn is acknowledged that a new owner may not have read
  }

  private FileChannel channel(String name) throws IOException {
    var open = written.get(name);
    if (open != null) return open;
    var made = FileChannel.open(folder.resolve(name), TO_WRITE, attributes);
    var other = written.putIfAbsent(name, made);
    if (other == null) return made;
    made.close();
    return other;
  }

  @Override
  public void finish(String name) throws IOException {
    var open = written.remove(name);
    if (open != null) open.close();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    lock.check();
    finish(from);
    finish(to);
    Files.move(folder.resolve(from), folder.resolve(to), StandardCopyOption.ATOMIC_MOVE,
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
  public void read(String name, long at, ByteBuffer into) throws IOException {
    try (var file = new RandomAccessFile(folder.resolve(name).toFile(), "r")) {
      file.seek(at);
      while (into.hasRemaining()) {
        int count = file.read(into.array(), into.arrayOffset() + into.position(), into.remaining());
        if (count < 0) return;
        into.position(into.position() + count);
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (var name : List.copyOf(written.keySet())) finish(name);
    lock.close();
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
