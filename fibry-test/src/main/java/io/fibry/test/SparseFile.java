package io.fibry.test;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * The bytes of a file. Only sectors that were written take memory; the others are zeros. An array
 * in {@link #writtenSectors} never changes, so copies share it. Not thread-safe.
 */
final class SparseFile {
  private static final int SECTOR_SIZE = 512; // bytes
  private static final byte[] ZEROS = new byte[SECTOR_SIZE];

  private final Map<Integer, byte[]> writtenSectors; // sector -> its content
  private final long size; // bytes

  private SparseFile(Map<Integer, byte[]> writtenSectors, long size) {
    this.writtenSectors = new TreeMap<>(writtenSectors);
    this.size = size;
  }

  static SparseFile zeros(long size) {
    return new SparseFile(Map.of(), size);
  }

  SparseFile copy() {
    return new SparseFile(writtenSectors, size);
  }

  /** Returns a copy of the given size: its end is cut off, or filled with zeros. */
  SparseFile resize(long size) {
    var copy = new SparseFile(writtenSectors, size);
    if (size < this.size) {
      int lastSector = sectorOf(size);
      copy.writtenSectors.keySet().removeIf(sector -> sector > lastSector);
      copy.writtenSectors.computeIfPresent(lastSector,
          (sector, bytes) -> Arrays.copyOf(Arrays.copyOf(bytes, (int) (size % SECTOR_SIZE)), SECTOR_SIZE));
    }
    return copy;
  }

  long size() {
    return size;
  }

  static int sectorOf(long position) {
    return Math.toIntExact(position / SECTOR_SIZE);
  }

  /** Returns the content of a sector; the caller must not change the array. */
  byte[] get(int sector) {
    return writtenSectors.getOrDefault(sector, ZEROS);
  }

  void put(int sector, byte[] bytes) {
    writtenSectors.put(sector, bytes);
  }

  /** Writes at most up to the end of the sector, and returns the number of bytes written. */
  int write(long position, ByteBuffer buffer) {
    if (position + buffer.remaining() > size) throw new IndexOutOfBoundsException(
        buffer.remaining() + " bytes at " + position + " do not fit into a file of " + size + " bytes");
    int sector = sectorOf(position);
    int offset = (int) (position % SECTOR_SIZE);
    int length = Math.min(buffer.remaining(), SECTOR_SIZE - offset);
    byte[] bytes = get(sector).clone();
    buffer.get(bytes, offset, length);
    put(sector, bytes);
    return length;
  }

  void read(long position, ByteBuffer buffer) {
    long end = Math.min(size, position + buffer.remaining());
    for (long next = position; next < end;) {
      int offset = (int) (next % SECTOR_SIZE);
      int length = (int) Math.min(end - next, SECTOR_SIZE - offset);
      buffer.put(get(sectorOf(next)), offset, length);
      next += length;
    }
  }

  void flip(long bit) {
    int sector = sectorOf(bit / 8);
    byte[] bytes = get(sector).clone();
    bytes[(int) (bit / 8 % SECTOR_SIZE)] ^= (byte) (1 << bit % 8);
    put(sector, bytes);
  }
}
