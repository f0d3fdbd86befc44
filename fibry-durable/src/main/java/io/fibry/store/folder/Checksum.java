package io.fibry.store.folder;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The checksum of all that a store writes. */
final class Checksum {
  private Checksum() {}

  /** Computes the checksum of each buffer from its position to its limit, which stay. */
  static int of(ByteBuffer... parts) {
    var crc = new CRC32C();
    for (var part : parts) crc.update(part.duplicate());
    return (int) crc.getValue();
  }
}
