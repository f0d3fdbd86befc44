package io.fibry.store.folder.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a folder is free again after the close of one of its files failed. */
class FileDiskCloseTest {
  /** A channel whose close fails, as after a failed write to a network disk. */
  private static final class FailingChannel extends FileChannel {
    @Override
    protected void implCloseChannel() throws IOException {
      throw new IOException("the close failed");
    }

    @Override
    public int write(ByteBuffer source, long position) {
      int count = source.remaining();
      source.position(source.limit());
      return count;
    }

    @Override
    public int read(ByteBuffer target) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer source) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long newPosition) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long size() {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel truncate(long size) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void force(boolean metaData) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(ByteBuffer target, long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean isShared) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean isShared) {
      throw new UnsupportedOperationException();
    }
  }

  @TempDir
  private Path temporary;

  @Test
  void folderIsUnlockedWhenCloseOfFileFails() throws IOException {
    var folder = temporary.resolve("store");
    var disk = FileDisk.open(folder, (file, options, attributes) -> new FailingChannel());
    disk.write("a", 0, ByteBuffer.wrap(new byte[] {1}));

    assertEquals("the close failed", assertThrows(IOException.class, disk::close).getMessage());

    FileDisk.open(folder).close(); // throws if the folder is still locked
  }

  @Test
  void allFilesAreClosedWhenCloseOfOneFileFails() throws IOException {
    var channels = List.of(new FailingChannel(), new FailingChannel(), new FailingChannel());
    var unopened = new ArrayDeque<>(channels);
    var disk = FileDisk.open(temporary.resolve("store"), (file, options, attributes) -> unopened.remove());
    for (var name : List.of("a", "b", "c")) disk.write(name, 0, ByteBuffer.wrap(new byte[] {1}));

    var failure = assertThrows(IOException.class, disk::close);

    assertEquals(2, failure.getSuppressed().length);
    for (var channel : channels) assertFalse(channel.isOpen());
  }
}
