package io.fibry.cluster;

import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/**
 * The right to a part, in the table: its owner, or, if it is free, its last owner.
 *
 * @param after the version of the entry before
 */
record Right(String node, String life, boolean free, long after) {
  private static final Codec<Right> CODEC = Codec.of(Right.class);

  /** Returns an empty value if the part has no owner, or the entry is no right. */
  static Optional<Right> of(ClusterTransport.Entry entry) {
    try {
      return entry.value().map(CODEC::decode);
    } catch (CodecException foreign) {
      LoggerFactory.getLogger(Cluster.class).warn("the entry '{}' cannot be read", entry.key(), foreign);
      return Optional.empty();
    }
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }

  boolean isOf(Member member) {
    return node.equals(member.name()) && life.equals(member.id());
  }

  boolean isOwnedBy(Member member) {
    return !free && isOf(member);
  }
}
