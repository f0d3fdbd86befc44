package io.fibry.bench.durable;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/** What a disk can do: one thread writes 256 bytes and forces them, into a file of zeros. */
record PreparedFile(StorageDirectory disk) implements AutoCloseable {
  static final String SIDE = "by hand: one thread writes and forces 256 bytes";
  private static final String NAME = "prepared";
  private static final int SIZE = 16 << 20;
  private static final int RECORD = 256;

  static PreparedFile on(StorageDirectory disk) throws IOException {
    disk.create(NAME, SIZE);
    return new PreparedFile(disk);
  }

  /** How often a second. */
  double rate() throws IOException {
    var bytes = ByteBuffer.allocateDirect(RECORD);
    long began = System.nanoTime();
    long end = began + Askers.time();
    long times = 0;
    do {
      disk.write(NAME, times * RECORD % SIZE, bytes.putLong(0, ++times));
      disk.sync(NAME);
    } while (System.nanoTime() < end);
    return times * (double) TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - began);
  }

  @Override
  public void close() throws IOException {
    disk.close();
  }
}
