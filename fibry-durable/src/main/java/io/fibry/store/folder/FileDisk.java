package io.fibry.store.folder;

import io.fibry.store.StoreInUseException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The files of a folder, which it locks. Reads use no channel, since a channel is closed for all by
 * one thread that is interrupted.
 */
final class FileDisk implements Disk {
  static final String LOCK = "store.lock";
  private static final int BLOCK = 1 << 16;
  private static final int FORCED = 1 << 22; // bytes at once: the forces of other files wait for them
  private static final boolean FORCES_FOLDERS = !System.getProperty("os.name").startsWith("Windows");

  // real paths of those that are open here: to close another channel of a locked file unlocks it
  private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

  private final Path folder;
  private final Path real;
  private final FileChannel lock; // null: there is none, and it is only read
  private final ConcurrentHashMap<String, FileChannel> written = new ConcurrentHashMap<>();

  private FileDisk(Path folder, Path real, FileChannel lock) {
    this.folder = folder;
    this.real = real;
    this.lock = lock;
  }

  /**
   * Makes the folder if there is none.
   *
   * @throws StoreInUseException if it is locked
   */
  static FileDisk open(Path folder) throws IOException {
    Files.createDirectories(folder);
    var real = folder.toRealPath();
    if (!OPEN.add(real)) throw inUse(folder, " by this process");
    try {
      return locked(folder, real);
    } catch (Throwable failure) {
      OPEN.remove(real);
      throw failure;
    }
  }

  private static FileDisk locked(Path folder, Path real) throws IOException {
    var lock = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      if (!isLocked(lock)) throw inUse(folder, holder(folder));
      lock.truncate(0);
      lock.write(ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
      return new FileDisk(folder, real, lock);
    } catch (Throwable failure) {
      lock.close();
      throw failure;
    }
  }

  /**
   * To read only: nothing is changed, and nothing is made. Others may read, too.
   *
   * @throws StoreInUseException if a store has it open
   */
  static FileDisk reading(Path folder) throws IOException {
    var real = folder.toRealPath();
    if (!OPEN.add(real)) throw inUse(folder, " by this process");
    try {
      return readable(folder, real);
    } catch (Throwable failure) {
      OPEN.remove(real);
      throw failure;
    }
  }

  private static FileDisk readable(Path folder, Path real) throws IOException {
    if (!Files.isReadable(folder.resolve(LOCK))) return new FileDisk(folder, real, null);
    var lock = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.READ);
    try {
      if (lock.tryLock(0, Long.MAX_VALUE, true) == null) throw inUse(folder, holder(folder));
      return new FileDisk(folder, real, lock);
    } catch (Throwable failure) {
      lock.close();
      throw failure;
    }
  }

  private static StoreInUseException inUse(Path folder, String holder) {
    return new StoreInUseException(
        folder + " is in use" + holder + "; close that store first: two writers would destroy it");
  }

  private static boolean isLocked(FileChannel lock) throws IOException {
    try {
      return lock.tryLock() != null;
    } catch (OverlappingFileLockException byUs) {
      return false;
    }
  }

  private static String holder(Path folder) {
    try {
      return " by process " + Files.readString(folder.resolve(LOCK));
    } catch (IOException locked) { // on Windows nobody else reads it
      return "";
    }
  }

  @Override
  public List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).filter(name -> !name.equals(LOCK)).sorted().toList();
    }
  }

  @Override
  public long size(String name) throws IOException {
    return Files.size(folder.resolve(name));
  }

  @Override
  public void create(String name, long size) throws IOException {
    delete(name);
    var channel = channel(name);
    var zeros = ByteBuffer.allocateDirect(BLOCK);
    for (long at = 0; at < size; at += BLOCK) {
      writeAll(channel, at, zeros.clear().limit((int) Math.min(BLOCK, size - at)));
      if ((at + BLOCK) % FORCED == 0) channel.force(false);
    }
    channel.force(true);
  }

  @Override
  public void write(String name, long at, ByteBuffer bytes) throws IOException {
    writeAll(channel(name), at, bytes.duplicate());
  }

  private static void writeAll(FileChannel channel, long at, ByteBuffer bytes) throws IOException {
    for (long place = at; bytes.hasRemaining();) place += channel.write(bytes, place);
  }

  @Override
  public void force(String name) throws IOException {
    channel(name).force(false);
  }

  private FileChannel channel(String name) throws IOException {
    var open = written.get(name);
    if (open != null) return open;
    var made = FileChannel.open(folder.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
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
    finish(from);
    finish(to);
    Files.move(folder.resolve(from), folder.resolve(to), StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public void delete(String name) throws IOException {
    finish(name);
    Files.deleteIfExists(folder.resolve(name));
  }

  @Override
  public void forceNames() throws IOException {
    if (!FORCES_FOLDERS) return;
    try (var channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
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
    if (lock != null) lock.close();
    OPEN.remove(real);
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
