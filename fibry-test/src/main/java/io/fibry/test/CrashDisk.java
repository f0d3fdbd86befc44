package io.fibry.test;

import io.fibry.store.folder.StorageDirectory;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * A disk in memory whose power can be cut, for stores that must survive power cuts. Synced data
 * survives. Other data may survive in part: each sector has the content of its last sync or of any
 * later write. Each creation, renaming or deletion of a file since the last {@link #syncDirectory}
 * survives or is lost. After a failed sync, another sync does not write the same sectors again, as
 * on Linux. Only another write and then a sync make them durable. Thread-safe.
 * {@snippet class="io.fibry.test.CrashDiskTest" region="disk"}
 */
public final class CrashDisk implements StorageDirectory {
  /**
   * The content of a file. Until the next syncDirectory, the old and the new name of a renamed file
   * lead to the same content.
   */
  private static final class FileContent {
    private SparseFile synced;
    private SparseFile current;
    // sector -> its content after each write since its last sync, oldest first
    private final TreeMap<Integer, List<byte[]>> versionsSinceSync = new TreeMap<>();
    private final Set<Integer> sectorsToSync = new TreeSet<>(); // sectors that the next sync writes to the disk

    FileContent(SparseFile bytes) {
      synced = bytes;
      current = bytes.copy();
    }
  }

  /**
   * A change of a name since the last syncDirectory. A null {@code content} removes the name;
   * {@code from} is the old name of a renamed file, otherwise null.
   */
  private record NameChange(String name, FileContent content, String from) {
    void apply(TreeMap<String, FileContent> names) {
      if (from != null && names.remove(from) != content) return; // the change that put this content at `from` was lost
      if (content == null) names.remove(name);
      else names.put(name, content);
    }
  }

  // all fields are guarded by this object's monitor
  private final TreeMap<String, FileContent> syncedNames = new TreeMap<>();
  private final TreeMap<String, FileContent> names = new TreeMap<>();
  private final List<NameChange> changes = new ArrayList<>(); // since the last syncDirectory, oldest first
  private Consumer<String> beforeOperation = operation -> {};
  private Runnable afterStep = () -> {};

  private CrashDisk() {}

  /** {@return a disk without files} */
  public static CrashDisk empty() {
    return new CrashDisk();
  }

  /**
   * Runs code before each operation that changes the disk. If the code throws an
   * {@link UncheckedIOException}, the operation fails with its cause.
   *
   * @param code gets "create", "write", "sync", "rename", "delete" or "syncDirectory"
   */
  public synchronized void beforeOperation(Consumer<String> code) {
    beforeOperation = code;
  }

  /**
   * Runs code after each step of an operation. The code may call {@link #cutPower} or
   * {@link #forEachCrashState} to get the disk as a power cut at this moment would leave it.
   *
   * @param code must not change the disk
   */
  public synchronized void afterOperation(Runnable code) {
    afterStep = code;
  }

  // ---- the disk

  @Override
  public synchronized List<String> names() {
    return List.copyOf(names.keySet());
  }

  @Override
  public synchronized long size(String name) throws IOException {
    return content(name).current.size();
  }

  private FileContent content(String name) throws IOException {
    var content = names.get(name);
    if (content == null) throw new FileNotFoundException(name);
    return content;
  }

  @Override
  public synchronized void create(String name, long size) throws IOException {
    onOperation("create");
    var content = new FileContent(SparseFile.zeros(0));
    change(new NameChange(name, content, null));
    afterStep.run();
    content.current = SparseFile.zeros(size);
    content.synced = SparseFile.zeros(size / 2); // a power cut in create may leave a file of half the size
    afterStep.run();
    content.synced = content.current.copy();
    afterStep.run();
  }

  private void change(NameChange change) {
    change.apply(names);
    changes.add(change);
  }

  @Override
  public synchronized void write(String name, long offset, ByteBuffer bytes) throws IOException {
    onOperation("write");
    var content = content(name);
    var remaining = bytes.duplicate();
    for (long position = offset; remaining.hasRemaining();) {
      int sector = SparseFile.sectorOf(position);
      position += content.current.write(position, remaining);
      content.versionsSinceSync.computeIfAbsent(sector, key -> new ArrayList<>()).add(content.current.get(sector));
      content.sectorsToSync.add(sector);
    }
    afterStep.run();
  }

  @Override
  public synchronized void sync(String name) throws IOException {
    var content = content(name);
    var sectorsToSync = Set.copyOf(content.sectorsToSync);
    content.sectorsToSync.clear(); // even if this sync fails
    onOperation("sync");
    for (int sector : sectorsToSync) content.synced.put(sector, content.versionsSinceSync.remove(sector).getLast());
    afterStep.run();
  }

  @Override
  public void finish(String name) {}

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    onOperation("rename");
    change(new NameChange(to, content(from), from));
    afterStep.run();
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    onOperation("delete");
    if (names.containsKey(name)) change(new NameChange(name, null, null));
    afterStep.run();
  }

  @Override
  public synchronized void syncDirectory() throws IOException {
    onOperation("syncDirectory");
    syncedNames.clear();
    syncedNames.putAll(names);
    changes.clear();
    afterStep.run();
  }

  private void onOperation(String operation) throws IOException {
    try {
      beforeOperation.accept(operation);
    } catch (UncheckedIOException failure) {
      throw failure.getCause();
    }
  }

  @Override
  public synchronized void read(String name, long offset, ByteBuffer into) throws IOException {
    content(name).current.read(offset, into);
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return "a simulated disk";
  }

  // ---- the disk after a power cut

  /**
   * Returns a copy of this disk as it may be after a power cut. This disk does not change.
   *
   * @param seed chooses which unsynced changes survive
   * @return the copy
   */
  public synchronized CrashDisk cutPower(long seed) {
    return image(new SplittableRandom(seed)::nextInt);
  }

  /**
   * Calls {@code use} with each disk that a power cut may leave. If there are more than
   * {@code maxDisks} such disks, calls {@code use} with that many random disks instead.
   *
   * @param maxDisks the maximum number of calls
   * @param seed decides the random choice
   * @param use gets each disk
   */
  public synchronized void forEachCrashState(int maxDisks, long seed, Consumer<CrashDisk> use) {
    long count = 1L << Math.min(changes.size(), 30);
    for (var content : contents())
      for (var versions : content.versionsSinceSync.values())
        count = Math.min(Integer.MAX_VALUE, count * (versions.size() + 1));
    if (count > maxDisks) {
      var random = new SplittableRandom(seed);
      for (int i = 0; i < maxDisks; i++) use.accept(image(random::nextInt));
      return;
    }
    for (long i = 0; i < count; i++) use.accept(image(new DigitChooser(i)));
  }

  /** Makes choices from the mixed-radix digits of a number: number i gives the i-th combination. */
  private static final class DigitChooser implements Chooser {
    private long remaining;

    DigitChooser(long number) {
      remaining = number;
    }

    @Override
    public int choose(int choices) {
      int choice = (int) (remaining % choices);
      remaining /= choices;
      return choice;
    }
  }

  private List<FileContent> contents() {
    var contents = new ArrayList<FileContent>();
    for (var content : syncedNames.values()) if (!contents.contains(content)) contents.add(content);
    for (var change : changes)
      if (change.content != null && !contents.contains(change.content)) contents.add(change.content);
    return contents;
  }

  private interface Chooser {
    /** Returns a number from 0 to {@code choices - 1}. */
    int choose(int choices);
  }

  private CrashDisk image(Chooser chooser) {
    var survivingNames = new TreeMap<>(syncedNames);
    for (var change : changes) if (chooser.choose(2) == 1) change.apply(survivingNames);
    var copies = new IdentityHashMap<FileContent, FileContent>();
    for (var content : contents()) copies.put(content, new FileContent(contentAfterCrash(content, chooser)));
    var image = new CrashDisk();
    survivingNames.forEach((name, content) -> image.syncedNames.put(name, copies.get(content)));
    image.names.putAll(image.syncedNames);
    return image;
  }

  private static SparseFile contentAfterCrash(FileContent content, Chooser chooser) {
    var bytes = content.synced.copy();
    content.versionsSinceSync.forEach((sector, versions) -> {
      int version = chooser.choose(versions.size() + 1);
      if (version > 0) bytes.put(sector, versions.get(version - 1));
    });
    return bytes;
  }

  /**
   * Flips a bit of a file, as a decaying disk does.
   *
   * @param name the name of the file
   * @param bit its position: 8 times the offset of its byte, plus 0 to 7 for the bit in that byte
   */
  public synchronized void flipBit(String name, long bit) {
    var changed = names.get(name).current.copy();
    changed.flip(bit);
    replace(name, changed);
  }

  private void replace(String name, SparseFile bytes) {
    var content = names.get(name);
    content.current = bytes;
    content.synced = bytes.copy();
    content.versionsSinceSync.clear();
    content.sectorsToSync.clear();
  }

  /**
   * Cuts off the end of a file.
   *
   * @param name the name of the file
   * @param size the size afterwards, in bytes
   */
  public synchronized void truncate(String name, long size) {
    replace(name, names.get(name).current.resize(size));
  }

  /** {@return a disk with the same files, all of them synced} */
  public synchronized CrashDisk copy() {
    return image(choices -> choices - 1); // each change happened, and each sector has its newest version
  }
}
