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
 * A disk in memory whose power can be cut, for stores that must survive that. Data that was forced
 * survives. Any part of the other data may survive: each sector has its content of the last force,
 * or of any write since, and each change of a name may have happened or not. A force that failed
 * forgets what it should have forced, so only a new write and another force bring it to the disk
 * for sure. Thread-safe.
 * {@snippet class="io.fibry.test.CrashDiskTest" region="disk"}
 */
public final class CrashDisk implements StorageDirectory {
  /** The content of a file, which several names may lead to. */
  private static final class FileContent {
    private SparseFile forced;
    private SparseFile current;
    private final TreeMap<Integer, List<byte[]>> unforced = new TreeMap<>(); // sector -> its contents since
    private final Set<Integer> dirty = new TreeSet<>(); // sectors that the next force brings to the disk

    FileContent(SparseFile all) {
      forced = all;
      current = all.copy();
    }
  }

  /** A change of a name that was not forced. Null removes the name. */
  private record NameChange(String name, FileContent content, String from) {
    void apply(TreeMap<String, FileContent> names) {
      if (from != null && names.remove(from) != content) return; // the name that it had no longer exists
      if (content == null) names.remove(name);
      else names.put(name, content);
    }
  }

  // all under this object's monitor
  private final TreeMap<String, FileContent> forcedNames = new TreeMap<>();
  private final TreeMap<String, FileContent> names = new TreeMap<>();
  private final List<NameChange> changes = new ArrayList<>();
  private Consumer<String> before = operation -> {};
  private Runnable after = () -> {};

  private CrashDisk() {}

  /** {@return one without files} */
  public static CrashDisk empty() {
    return new CrashDisk();
  }

  /**
   * Runs code before each operation that changes something. An {@link UncheckedIOException} of it
   * is a failure of the disk.
   *
   * @param code gets "create", "write", "sync", "rename", "delete" or "syncDirectory"
   */
  public synchronized void beforeOperation(Consumer<String> code) {
    before = code;
  }

  /**
   * Runs code after each step of an operation. There, {@link #cutPower} and
   * {@link #forEachCrashState} tell what a power cut at this moment leaves.
   *
   * @param code it must not change the disk
   */
  public synchronized void afterOperation(Runnable code) {
    after = code;
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
    after.run();
    content.current = SparseFile.zeros(size);
    content.forced = SparseFile.zeros(size / 2);
    after.run();
    content.forced = content.current.copy();
    after.run();
  }

  private void change(NameChange change) {
    change.apply(names);
    changes.add(change);
  }

  @Override
  public synchronized void write(String name, long at, ByteBuffer bytes) throws IOException {
    onOperation("write");
    var content = content(name);
    var left = bytes.duplicate();
    for (long place = at; left.hasRemaining();) {
      int sector = SparseFile.sectorOf(place);
      place += content.current.write(place, left);
      content.unforced.computeIfAbsent(sector, none -> new ArrayList<>()).add(content.current.get(sector));
      content.dirty.add(sector);
    }
    after.run();
  }

  @Override
  public synchronized void sync(String name) throws IOException {
    var content = content(name);
    var dirty = Set.copyOf(content.dirty);
    content.dirty.clear(); // also if this fails
    onOperation("sync");
    for (int sector : dirty) content.forced.put(sector, content.unforced.remove(sector).getLast());
    after.run();
  }

  @Override
  public void finish(String name) {}

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    onOperation("rename");
    change(new NameChange(to, content(from), from));
    after.run();
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    onOperation("delete");
    if (names.containsKey(name)) change(new NameChange(name, null, null));
    after.run();
  }

  @Override
  public synchronized void syncDirectory() throws IOException {
    onOperation("syncDirectory");
    forcedNames.clear();
    forcedNames.putAll(names);
    changes.clear();
    after.run();
  }

  private void onOperation(String operation) throws IOException {
    try {
      before.accept(operation);
    } catch (UncheckedIOException failure) {
      throw failure.getCause();
    }
  }

  @Override
  public synchronized void read(String name, long at, ByteBuffer into) throws IOException {
    content(name).current.read(at, into);
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return "a simulated disk";
  }

  // ---- what a power cut leaves

  /**
   * Cuts the power of a copy.
   *
   * @param seed chooses what is left
   * @return the disk as it may be afterwards
   */
  public synchronized CrashDisk cutPower(long seed) {
    return image(new SplittableRandom(seed)::nextInt);
  }

  /**
   * Every disk that a power cut may leave; if there are too many, some by chance.
   *
   * @param most how many at most
   * @param seed chooses them, if there are more
   * @param use called with each disk
   */
  public synchronized void forEachCrashState(int most, long seed, Consumer<CrashDisk> use) {
    long count = 1L << Math.min(changes.size(), 30);
    for (var content : contents())
      for (var versions : content.unforced.values())
        count = Math.min(Integer.MAX_VALUE, count * (versions.size() + 1));
    if (count > most) {
      var random = new SplittableRandom(seed);
      for (int i = 0; i < most; i++) use.accept(image(random::nextInt));
      return;
    }
    for (long i = 0; i < count; i++) use.accept(image(new DigitChooser(i)));
  }

  /** Chooses by the digits of a number, so that other numbers choose otherwise. */
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
    var all = new ArrayList<FileContent>();
    for (var one : forcedNames.values()) if (!all.contains(one)) all.add(one);
    for (var change : changes) if (change.content != null && !all.contains(change.content)) all.add(change.content);
    return all;
  }

  private interface Chooser {
    /** Chooses a number from 0 to one less than {@code choices}. */
    int choose(int choices);
  }

  private CrashDisk image(Chooser chooser) {
    var left = new TreeMap<>(forcedNames);
    for (var change : changes) if (chooser.choose(2) == 1) change.apply(left);
    var kept = new IdentityHashMap<FileContent, FileContent>();
    for (var content : contents()) kept.put(content, new FileContent(contentAfterCrash(content, chooser)));
    var image = new CrashDisk();
    left.forEach((name, content) -> image.forcedNames.put(name, kept.get(content)));
    image.names.putAll(image.forcedNames);
    return image;
  }

  private static SparseFile contentAfterCrash(FileContent content, Chooser chooser) {
    var left = content.forced.copy();
    content.unforced.forEach((sector, versions) -> {
      int version = chooser.choose(versions.size() + 1);
      if (version > 0) left.put(sector, versions.get(version - 1));
    });
    return left;
  }

  /**
   * Changes a bit of a file, as a disk that rots.
   *
   * @param name of the file
   * @param bit which
   */
  public synchronized void flipBit(String name, long bit) {
    var changed = names.get(name).current.copy();
    changed.flip(bit);
    replace(name, changed);
  }

  private void replace(String name, SparseFile all) {
    var content = names.get(name);
    content.current = all;
    content.forced = all.copy();
    content.unforced.clear();
    content.dirty.clear();
  }

  /**
   * Cuts off the end of a file.
   *
   * @param name of the file
   * @param size the size afterwards
   */
  public synchronized void truncate(String name, long size) {
    replace(name, names.get(name).current.resize(size));
  }

  /** {@return a disk with the same files, all of them forced} */
  public synchronized CrashDisk copy() {
    return image(choices -> choices - 1);
  }
}
