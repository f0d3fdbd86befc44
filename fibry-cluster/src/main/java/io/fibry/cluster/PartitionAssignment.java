package io.fibry.cluster;

import io.fibry.cluster.Cluster.Member;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Says to which part a key belongs, and which node should own a part. All nodes compute the same.
 */
final class PartitionAssignment {
  private static final int MAX_KEY_BYTES = 512; // of a key

  private PartitionAssignment() {}

  static String checkKey(String kind, String key) {
    int bytes = Objects.requireNonNull(key, "key").getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_KEY_BYTES) throw new IllegalArgumentException("a key of '" + kind + "' has " + bytes
        + " bytes; take 1 to " + MAX_KEY_BYTES);
    return key;
  }

  static int partitionOf(String key, int partitions) {
    return (int) (checksum(key) % partitions);
  }

  private static long checksum(String text) {
    var sum = new CRC32C();
    sum.update(text.getBytes(StandardCharsets.UTF_8));
    return sum.getValue();
  }

  /**
   * The one with the highest number for this part, so that few parts move when nodes come and go.
   */
  static Optional<String> preferredNode(String kind, int part, List<Member> members) {
    Member best = null;
    long highest = 0;
    for (var member : members) {
      if (!member.hosts().contains(kind)) continue;
      long number = mix(checksum(member.name()) << 32 ^ checksum(kind + "." + part));
      if (best == null || Long.compareUnsigned(number, highest) > 0) {
        best = member;
        highest = number;
      }
    }
    return Optional.ofNullable(best).map(Member::name);
  }

  /** Spreads bits, as SplitMix64 does. */
  private static long mix(long bits) {
    long z = bits + 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
