package io.fibry.store.folder.log;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The checksum (CRC32C) in all files of a store. */
final class Checksum {
  private Checksum() {}

  /**
   * Computes one checksum of the buffers, each from its position to its limit. The positions do not
   * change.
   */
  static int of(ByteBuffer... parts) {
    var crc = new CRC32C();
    for (var part : parts) crc.update(part.duplicate());
    return (int) crc.getValue();
  }
}
