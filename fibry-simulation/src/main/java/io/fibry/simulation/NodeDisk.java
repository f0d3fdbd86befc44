package io.fibry.simulation;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The disk of a node: others may run before each operation, and none begins after a crash. So it
 * stands before the disk and not behind its lock.
 */
final class NodeDisk implements StorageDirectory {
  private final SimulationRun run;
  private final FailureDomain place;
  private final StorageDirectory files;

  NodeDisk(SimulationRun run, FailureDomain place, StorageDirectory files) {
    this.run = run;
    this.place = place;
    this.files = files;
  }

  private StorageDirectory begin() {
    run.point();
    if (place.crashed) SimulatedThread.stopHere();
    return files;
  }

  @Override
  public List<String> names() throws IOException {
    return begin().names();
  }

  @Override
  public long size(String name) throws IOException {
    return begin().size(name);
  }

  @Override
  public void create(String name, long size) throws IOException {
    begin().create(name, size);
  }

  @Override
  public void write(String name, long at, ByteBuffer bytes) throws IOException {
    begin().write(name, at, bytes);
  }

  @Override
  public void sync(String name) throws IOException {
    begin().sync(name);
    run.point();
  }

  @Override
  public void finish(String name) throws IOException {
    begin().finish(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    begin().rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    begin().delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    begin().syncDirectory();
    run.point();
  }

  @Override
  public void read(String name, long at, ByteBuffer into) throws IOException {
    begin().read(name, at, into);
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return "the disk of " + place.name;
  }
}
