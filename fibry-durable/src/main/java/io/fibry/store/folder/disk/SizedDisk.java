package io.fibry.store.folder.disk;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** Forwards all calls to another disk, and keeps the sizes of the files in memory. */
public final class SizedDisk implements StorageDirectory {
  private final StorageDirectory disk;
  // Sizes in bytes by name; a write does not change the size of a file.
  private final ConcurrentHashMap<String, Long> sizes = new ConcurrentHashMap<>();

  private SizedDisk(StorageDirectory disk) {
    this.disk = disk;
  }

  public static SizedDisk of(StorageDirectory disk) throws IOException {
    var measuredDisk = new SizedDisk(disk);
    for (var name : disk.names()) measuredDisk.sizes.put(name, disk.size(name));
    return measuredDisk;
  }

  /** Returns the size of all files in bytes. */
  public long bytes() {
    return sizes.values().stream().mapToLong(size -> size).sum();
  }

  @Override
  public List<String> names() throws IOException {
    return disk.names();
  }

  @Override
  public long size(String name) throws IOException {
    return disk.size(name);
  }

  @Override
  public void create(String name, long size) throws IOException {
    disk.create(name, size);
    sizes.put(name, size);
  }

  @Override
  public void write(String name, long offset, ByteBuffer bytes) throws IOException {
    disk.write(name, offset, bytes);
  }

  @Override
  public void sync(String name) throws IOException {
    disk.sync(name);
  }

  @Override
  public void finish(String name) throws IOException {
    disk.finish(name);
  }

  @Override
  public void rename(String oldName, String newName) throws IOException {
    var knownSize = sizes.get(oldName);
    long size = knownSize != null ? knownSize : disk.size(oldName); // null if the file was created without this object
    disk.rename(oldName, newName);
    sizes.remove(oldName);
    sizes.put(newName, size);
  }

  @Override
  public void delete(String name) throws IOException {
    disk.delete(name);
    sizes.remove(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    disk.syncDirectory();
  }

  @Override
  public void read(String name, long offset, ByteBuffer target) throws IOException {
    disk.read(name, offset, target);
  }

  @Override
  public void close() throws IOException {
    disk.close();
  }

  @Override
  public String toString() {
    return disk.toString();
  }
}
