package io.fibry.bench.durable;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * Measures the disk itself: one thread writes 256 bytes into a file of zeros and syncs it, again
 * and again.
 */
record PreparedFile(StorageDirectory disk) implements AutoCloseable {
  static final String SIDE = "by hand: one thread writes and syncs 256 bytes";
  private static final String NAME = "prepared";
  private static final int FILE_SIZE = 16 << 20;
  private static final int RECORD_SIZE = 256;

  static PreparedFile createOn(StorageDirectory disk) throws IOException {
    disk.create(NAME, FILE_SIZE);
    return new PreparedFile(disk);
  }

  /** Returns how many writes, each with a sync, the disk completes per second. */
  double writesPerSecond() throws IOException {
    var bytes = ByteBuffer.allocateDirect(RECORD_SIZE);
    long start = System.nanoTime();
    long deadline = start + Askers.roundNanos();
    long writes = 0;
    do {
      disk.write(NAME, writes * RECORD_SIZE % FILE_SIZE, bytes.putLong(0, ++writes));
      disk.sync(NAME);
    } while (System.nanoTime() < deadline);
    return writes * (double) TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start);
  }

  @Override
  public void close() throws IOException {
    disk.close();
  }
}
