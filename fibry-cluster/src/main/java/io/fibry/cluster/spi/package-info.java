/**
 * For authors of transports: a {@link io.fibry.cluster.spi.ClusterTransport} carries the messages
 * of a node, and holds its leases and work queues.
 */
package io.fibry.cluster.spi;
