package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A part of a file, which moves to its end; the same memory for all files. Used by one thread. */
final class FileWindow {
  private static final int MIN_SIZE = 1 << 21;
  private static final byte[] ZEROS = new byte[1 << 16];

  private final StorageDirectory disk;
  private String name;
  private int size; // of the file
  private byte[] bytes = {};
  private int begin; // in the file
  private int end;

  FileWindow(StorageDirectory disk) {
    this.disk = disk;
  }

  void open(String file) throws IOException {
    name = file;
    size = Math.toIntExact(disk.size(file));
    begin = 0;
    end = 0;
  }

  int size() {
    return size;
  }

  /** Bytes from an offset on: as many as are asked for, or all that are left. For now only. */
  ByteBuffer bytesAt(int offset, long least) throws IOException {
    int wanted = (int) Math.min(least, size - offset);
    if (offset < begin || offset + wanted > end) move(offset, wanted);
    return ByteBuffer.wrap(bytes, offset - begin, Math.max(0, end - offset));
  }

  /** Reads from a frame on: at least all of it, if it is whole. For now only. */
  ByteBuffer frame(int offset) throws IOException {
    var file = bytesAt(offset, Frame.MIN_SIZE);
    int length = file.remaining() < Integer.BYTES ? 0 : file.getInt(file.position());
    return length <= 0 ? file : bytesAt(offset, Frame.sizeFrom(length));
  }

  private void move(int offset, int wanted) throws IOException {
    int kept = offset < begin ? 0 : Math.max(0, end - offset);
    var before = bytes;
    if (bytes.length < wanted) bytes = new byte[Math.max(wanted, Math.min(size, MIN_SIZE))];
    System.arraycopy(before, kept == 0 ? 0 : offset - begin, bytes, 0, kept);
    var more = ByteBuffer.wrap(bytes, kept, Math.min(bytes.length, size - offset) - kept);
    disk.read(name, offset + (long) kept, more);
    begin = offset;
    end = offset + more.position();
  }

  /** Whether all bytes are zero from one offset to another, or to the end. */
  boolean isBlank(int offset, int until) throws IOException {
    for (int at = offset; at < Math.min(until, size); at = end) {
      var part = bytesAt(at, 1);
      if (!part.hasRemaining()) return true; // the file is shorter now
      int last = Math.min(part.limit(), part.position() + until - at);
      for (int from = part.position(); from < last; from += ZEROS.length) {
        int count = Math.min(ZEROS.length, last - from);
        if (Arrays.mismatch(bytes, from, from + count, ZEROS, 0, count) >= 0) return false;
      }
    }
    return true;
  }
}
