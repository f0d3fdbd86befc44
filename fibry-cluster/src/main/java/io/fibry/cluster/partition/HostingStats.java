package io.fibry.cluster.partition;

/**
 * How many partitions and entities of a kind are on a node.
 *
 * @param partitions the number of partitions of the kind, on all nodes
 * @param localPartitions the number of partitions that the node owns
 * @param actors the number of entities that are alive on the node
 */
public record HostingStats(int partitions, int localPartitions, long actors) {}
