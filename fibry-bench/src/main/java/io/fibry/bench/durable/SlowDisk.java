package io.fibry.bench.durable;

import io.fibry.store.folder.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A disk where a force takes {@code force} nanoseconds or more. */
record SlowDisk(Disk disk, long force) implements Disk {

  @Override
  public void force(String name) throws IOException {
    long end = System.nanoTime() + force;
    disk.force(name);
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
  public void forceNames() throws IOException {
    disk.forceNames();
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
