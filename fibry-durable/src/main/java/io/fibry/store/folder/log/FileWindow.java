package io.fibry.store.folder.log;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A part of a file in memory, which moves towards the end of the file. Its memory is used for one
 * file after the other. Used by one thread.
 */
public final class FileWindow {
  private static final int USUAL_SIZE = 1 << 21; // bytes, unless the file is smaller or a frame is larger
  private static final byte[] ZEROS = new byte[1 << 16];

  private final StorageDirectory disk;
  private String name;
  private int size; // of the file, in bytes
  private byte[] bytes = {};
  private int begin; // of the window: an offset in the file
  private int end; // of the window: an offset in the file

  public FileWindow(StorageDirectory disk) {
    this.disk = disk;
  }

  public void open(String fileName) throws IOException {
    name = fileName;
    size = Math.toIntExact(disk.size(fileName));
    begin = 0;
    end = 0;
  }

  int size() {
    return size;
  }

  /**
   * Returns the bytes from an offset on, which are valid until the next call.
   *
   * @param minBytes the minimum number of bytes in the buffer, unless the file ends first
   */
  ByteBuffer bytesAt(int offset, long minBytes) throws IOException {
    int neededBytes = (int) Math.min(minBytes, size - offset);
    if (offset < begin || offset + neededBytes > end) move(offset, neededBytes);
    return ByteBuffer.wrap(bytes, offset - begin, Math.max(0, end - offset));
  }

  /**
   * Returns the bytes from a frame on, which are valid until the next call. If the frame is intact,
   * all of it is in the buffer.
   */
  public ByteBuffer frame(int offset) throws IOException {
    var content = bytesAt(offset, Frame.MIN_SIZE);
    int length = content.remaining() < Integer.BYTES ? 0 : content.getInt(content.position());
    return length <= 0 ? content : bytesAt(offset, Frame.sizeFrom(length));
  }

  private void move(int offset, int neededBytes) throws IOException {
    int keptBytes = offset < begin ? 0 : Math.max(0, end - offset);
    var oldBytes = bytes;
    int targetSize = Math.max(neededBytes, Math.min(size, USUAL_SIZE));
    if (bytes.length < targetSize) bytes = new byte[targetSize];
    System.arraycopy(oldBytes, keptBytes == 0 ? 0 : offset - begin, bytes, 0, keptBytes);
    var newBytes = ByteBuffer.wrap(bytes, keptBytes, Math.min(bytes.length, size - offset) - keptBytes);
    disk.read(name, offset + (long) keptBytes, newBytes);
    begin = offset;
    end = offset + newBytes.position();
  }

  /**
   * Returns whether all bytes are zero from an offset to another, or to the end of the file if that
   * comes first.
   */
  boolean isBlank(int offset, int until) throws IOException {
    for (int blockStart = offset; blockStart < Math.min(until, size); blockStart = end) {
      var block = bytesAt(blockStart, 1);
      if (!block.hasRemaining()) return true; // the file has become shorter
      int blockEnd = Math.min(block.limit(), block.position() + until - blockStart);
      for (int start = block.position(); start < blockEnd; start += ZEROS.length) {
        int count = Math.min(ZEROS.length, blockEnd - start);
        if (Arrays.mismatch(bytes, start, start + count, ZEROS, 0, count) >= 0) return false;
      }
    }
    return true;
  }
}
