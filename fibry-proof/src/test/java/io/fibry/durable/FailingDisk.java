package io.fibry.durable;

import io.fibry.store.folder.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;

/** A disk whose writes fail now and then: nothing of them is written. */
record FailingDisk(Disk disk, SplittableRandom dice, int oneOf) implements Disk {
  private void check(String what) throws IOException {
    if (oneOf > 0 && dice.nextInt(oneOf) == 0) throw new IOException("made up: " + what);
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
    check("create " + name);
    disk.create(name, size);
  }

  @Override
  public void write(String name, long at, ByteBuffer bytes) throws IOException {
    check("write to " + name);
    disk.write(name, at, bytes);
  }

  @Override
  public void force(String name) throws IOException {
    if (oneOf > 0 && dice.nextInt(20 * oneOf) == 0) throw new IOException("made up: force of " + name);
    disk.force(name);
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
