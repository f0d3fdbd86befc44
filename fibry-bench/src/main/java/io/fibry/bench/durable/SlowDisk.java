package io.fibry.bench.durable;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A disk where each sync takes at least {@code minSyncNanos} nanoseconds. */
record SlowDisk(StorageDirectory disk, long minSyncNanos) implements StorageDirectory {

  @Override
  public void sync(String name) throws IOException {
    long deadline = System.nanoTime() + minSyncNanos;
    disk.sync(name);
    for (long remaining = deadline - System.nanoTime(); remaining > 0; remaining = deadline - System.nanoTime())
      LockSupport.parkNanos(remaining);
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
  }

  @Override
  public void write(String name, long offset, ByteBuffer bytes) throws IOException {
    disk.write(name, offset, bytes);
  }

  @Override
  public void finish(String name) throws IOException {
    disk.finish(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    disk.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    disk.delete(name);
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
}
