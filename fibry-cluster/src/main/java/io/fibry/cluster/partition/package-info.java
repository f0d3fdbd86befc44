/**
 * The partitions of a kind of entities, their owners, and their moves.
 * {@link io.fibry.cluster.partition.PartitionCoordinator} takes and releases the partitions of a
 * node. {@link io.fibry.cluster.partition.PartitionGate} holds or forwards the messages of one
 * partition while the partition moves. Not exported.
 */
package io.fibry.cluster.partition;
