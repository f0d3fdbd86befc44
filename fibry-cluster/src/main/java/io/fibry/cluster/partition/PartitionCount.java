package io.fibry.cluster.partition;

import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;

/** The number of partitions of a kind, which the first node sets for all nodes. */
public final class PartitionCount {
  private static final Codec<Kind> CODEC = Codec.of(Kind.class);

  /** The table entry of a kind of entities, with its number of partitions. */
  private record Kind(int parts) {}

  private PartitionCount() {}

  /**
   * Returns the number of partitions, and sets it if no node has set it. Throws if it is not the
   * number that this node wants.
   */
  public static int of(String kind, NodeContext nodeContext, int wanted) {
    String key = nodeContext.subjects().keyOfKind(kind);
    nodeContext.transport().create(key, CODEC.encode(new Kind(wanted)), ClusterTransport.FOREVER);
    int partitions = nodeContext.transport().get(key).flatMap(ClusterTransport.Entry::value).map(CODEC::decode)
        .orElseThrow(() -> new IllegalStateException("the entry '" + key + "' was deleted")).parts;
    if (partitions != wanted)
      throw new IllegalStateException("the keys of '" + kind + "' are split into " + partitions
          + " partitions, and node '" + nodeContext.node() + "' wants " + wanted
          + "; use withPartitions(" + partitions + ")");
    return partitions;
  }
}
