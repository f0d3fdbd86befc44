package io.fibry.cluster;

/**
 * How much of a kind is on a node.
 *
 * @param parts that its keys are split into
 * @param here the parts whose home is this node
 * @param actors that are alive there
 */
record HostingStats(int parts, int here, long actors) {}
