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
  private final FailureDomain domain;
  private final StorageDirectory files;

  NodeDisk(SimulationRun run, FailureDomain domain, StorageDirectory files) {
    this.run = run;
    this.domain = domain;
    this.files = files;
  }

  private StorageDirectory beforeOperation() {
    run.yieldPoint();
    if (domain.crashed) SimulatedThread.abandon();
    return files;
  }

  @Override
  public List<String> names() throws IOException {
    return beforeOperation().names();
  }

  @Override
  public long size(String name) throws IOException {
    return beforeOperation().size(name);
  }

  @Override
  public void create(String name, long size) throws IOException {
    beforeOperation().create(name, size);
  }

  @Override
  public void write(String name, long at, ByteBuffer bytes) throws IOException {
    beforeOperation().write(name, at, bytes);
  }

  @Override
  public void sync(String name) throws IOException {
    beforeOperation().sync(name);
    run.yieldPoint();
  }

  @Override
  public void finish(String name) throws IOException {
    beforeOperation().finish(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    beforeOperation().rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    beforeOperation().delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    beforeOperation().syncDirectory();
    run.yieldPoint();
  }

  @Override
  public void read(String name, long at, ByteBuffer into) throws IOException {
    beforeOperation().read(name, at, into);
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return "the disk of " + domain.name;
  }
}
