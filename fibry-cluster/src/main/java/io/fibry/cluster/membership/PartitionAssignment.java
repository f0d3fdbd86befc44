package io.fibry.cluster.membership;

import io.fibry.cluster.Cluster.Member;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Computes the partition of a key, and the preferred owner of a partition. All nodes get the same
 * results.
 */
public final class PartitionAssignment {
  private static final int MAX_KEY_BYTES = 512;

  private PartitionAssignment() {}

  public static String checkKey(String kind, String key) {
    int bytes = Objects.requireNonNull(key, "key").getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_KEY_BYTES) throw new IllegalArgumentException("a key of '" + kind + "' has " + bytes
        + " bytes; take 1 to " + MAX_KEY_BYTES);
    return key;
  }

  public static int partitionOf(String key, int partitions) {
    return (int) (checksum(key) % partitions);
  }

  private static long checksum(String text) {
    var crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return crc.getValue();
  }

  /**
   * Returns the name of the host with the highest hash for this partition (rendezvous hashing), so
   * that few partitions move when nodes join and leave. Returns an empty value if no member hosts
   * the kind.
   */
  public static Optional<String> preferredNode(String kind, int partition, List<Member> members) {
    Member bestHost = null;
    long maxHash = 0;
    for (var member : members) {
      if (!member.hosts().contains(kind)) continue;
      long hash = mix(checksum(member.name()) << 32 ^ checksum(kind + "." + partition));
      if (bestHost == null || Long.compareUnsigned(hash, maxHash) > 0) {
        bestHost = member;
        maxHash = hash;
      }
    }
    return Optional.ofNullable(bestHost).map(Member::name);
  }

  /** Mixes the bits of a hash like SplitMix64. */
  private static long mix(long bits) {
    long z = bits + 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
