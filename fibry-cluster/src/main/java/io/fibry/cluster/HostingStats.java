package io.fibry.cluster;

/**
 * How much of a kind is on a node.
 *
 * @param partitions that its keys are split into
 * @param localPartitions the parts whose home is this node
 * @param actors that are alive there
 */
record HostingStats(int partitions, int localPartitions, long actors) {}
