package io.fibry.bench.durable;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A disk where a force takes {@code force} nanoseconds or more. */
record SlowDisk(StorageDirectory disk, long force) implements StorageDirectory {

  @Override
  public void sync(String name) throws IOException {
    long end = System.nanoTime() + force;
    disk.sync(name);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) LockSupport.parkNanos(left);
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
  public void write(String name, long at, ByteBuffer bytes) throws IOException {
    disk.write(name, at, bytes);
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
  public void read(String name, long at, ByteBuffer into) throws IOException {
    disk.read(name, at, into);
  }

  @Override
  public void close() throws IOException {
    disk.close();
  }
}
