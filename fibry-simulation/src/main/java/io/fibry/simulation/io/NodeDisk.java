package io.fibry.simulation.io;

import io.fibry.simulation.run.FailureDomain;
import io.fibry.simulation.run.SimulatedThread;
import io.fibry.simulation.run.SimulationRun;
import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The disk of a node. Before each operation, other threads may run; after a crash, no operation
 * begins. Both happen here and not inside of the wrapped disk, because that disk holds a lock
 * during its operations.
 */
public final class NodeDisk implements StorageDirectory {
  private final SimulationRun run;
  private final FailureDomain domain;
  private final StorageDirectory disk;

  public NodeDisk(SimulationRun run, FailureDomain domain, StorageDirectory disk) {
    this.run = run;
    this.domain = domain;
    this.disk = disk;
  }

  /** Lets other threads run, and returns the disk. After a crash this method never returns. */
  private StorageDirectory beforeOperation() {
    run.yieldAtSend();
    if (domain.isCrashed) SimulatedThread.parkAsCrashed();
    return disk;
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
  public void write(String name, long position, ByteBuffer bytes) throws IOException {
    beforeOperation().write(name, position, bytes);
  }

  @Override
  public void sync(String name) throws IOException {
    beforeOperation().sync(name);
    run.yieldAtSend();
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
    run.yieldAtSend();
  }

  @Override
  public void read(String name, long position, ByteBuffer target) throws IOException {
    beforeOperation().read(name, position, target);
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return "the disk of " + domain.name;
  }
}
