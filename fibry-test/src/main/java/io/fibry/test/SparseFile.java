package io.fibry.test;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * The bytes of a file, of which only sectors that were written take memory: the others are zeros.
 * No array changes once it is in here, so copies share them. Not thread-safe.
 */
final class SparseFile {
  private static final int SIZE = 512; // bytes
  private static final byte[] ZEROS = new byte[SIZE];

  private final Map<Integer, byte[]> written;
  private final long size;

  private SparseFile(Map<Integer, byte[]> written, long size) {
    this.written = new TreeMap<>(written);
    this.size = size;
  }

  static SparseFile zeros(long size) {
    return new SparseFile(Map.of(), size);
  }

  SparseFile copy() {
    return new SparseFile(written, size);
  }

  /** A copy whose end is cut off, or which has zeros at its end. */
  SparseFile resize(long size) {
    var copy = new SparseFile(written, size);
    if (size < this.size) {
      int last = sectorOf(size);
      copy.written.keySet().removeIf(sector -> sector > last);
      copy.written.computeIfPresent(last,
          (sector, bytes) -> Arrays.copyOf(Arrays.copyOf(bytes, (int) (size % SIZE)), SIZE));
    }
    return copy;
  }

  long size() {
    return size;
  }

  static int sectorOf(long place) {
    return Math.toIntExact(place / SIZE);
  }

  /** Must not be changed. */
  byte[] get(int sector) {
    return written.getOrDefault(sector, ZEROS);
  }

  void put(int sector, byte[] bytes) {
    written.put(sector, bytes);
  }

  /** {@return how many bytes it has written, all of them in the sector of this place} */
  int write(long at, ByteBuffer from) {
    if (at + from.remaining() > size) throw new IndexOutOfBoundsException(
        from.remaining() + " bytes at " + at + " do not fit into a file of " + size);
    int sector = sectorOf(at);
    int offset = (int) (at % SIZE);
    int length = Math.min(from.remaining(), SIZE - offset);
    byte[] bytes = get(sector).clone();
    from.get(bytes, offset, length);
    put(sector, bytes);
    return length;
  }

  void read(long at, ByteBuffer into) {
    long end = Math.min(size, at + into.remaining());
    for (long place = at; place < end;) {
      int offset = (int) (place % SIZE);
      int length = (int) Math.min(end - place, SIZE - offset);
      into.put(get(sectorOf(place)), offset, length);
      place += length;
    }
  }

  void flip(long bit) {
    int sector = sectorOf(bit / 8);
    byte[] bytes = get(sector).clone();
    bytes[(int) (bit / 8 % SIZE)] ^= (byte) (1 << bit % 8);
    put(sector, bytes);
  }
}
