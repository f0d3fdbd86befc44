package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** A disk that knows how many bytes its files have, without asking it. */
final class MeasuredDisk implements StorageDirectory {
  private final StorageDirectory disk;
  private final ConcurrentHashMap<String, Long> sizes = new ConcurrentHashMap<>(); // a write changes none

  private MeasuredDisk(StorageDirectory disk) {
    this.disk = disk;
  }

  static MeasuredDisk of(StorageDirectory disk) throws IOException {
    var measured = new MeasuredDisk(disk);
    for (var name : disk.names()) measured.sizes.put(name, disk.size(name));
    return measured;
  }

  /** Returns the size of all files. */
  long bytes() {
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
  public void write(String name, long at, ByteBuffer bytes) throws IOException {
    disk.write(name, at, bytes);
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
  public void rename(String from, String to) throws IOException {
    disk.rename(from, to);
    sizes.put(to, sizes.remove(from));
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
  public void read(String name, long at, ByteBuffer into) throws IOException {
    disk.read(name, at, into);
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
