package io.fibry.cluster.membership;

import io.fibry.cluster.Cluster;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.text.SafeLogger;
import java.util.Optional;

/**
 * The right to a partition, as an entry of the table. It names the owner or, if the right is free,
 * the last owner.
 *
 * @param node the name of the owner, or of the last owner
 * @param life the id of the life of that node
 * @param free whether another node may take the partition
 * @param after the version of the previous entry
 */
public record PartitionRight(String node, String life, boolean free, long after) {
  private static final Codec<PartitionRight> CODEC =
      Codec.of(PartitionRight.class, forms -> forms.named(PartitionRight.class, "Right"));

  /** Decodes an entry. Returns an empty value if the entry was deleted, or is not a right. */
  public static Optional<PartitionRight> of(ClusterTransport.Entry entry) {
    try {
      return entry.value().map(CODEC::decode);
    } catch (CodecException failure) {
      SafeLogger.of(Cluster.class).warn("the entry '{}' cannot be read", entry.key(), failure);
      return Optional.empty();
    }
  }

  public byte[] bytes() {
    return CODEC.encode(this);
  }

  public boolean isOf(Member member) {
    return node.equals(member.name()) && life.equals(member.id());
  }

  public boolean isOwnedBy(Member member) {
    return !free && isOf(member);
  }
}
