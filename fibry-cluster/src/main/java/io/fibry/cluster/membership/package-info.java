/**
 * Which nodes are alive. {@link io.fibry.cluster.membership.NodeLease} renews the lease of this
 * node, and {@link io.fibry.cluster.membership.HeartbeatTracker} judges the leases of the other
 * nodes. Not exported.
 */
package io.fibry.cluster.membership;
