package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import java.time.Duration;

/** Connects nodes with each other, through servers or in the memory of this process. */
@FunctionalInterface
public interface ClusterNetwork {

  /**
   * Connects a node.
   *
   * @param app the name of the app; only nodes of the same app see each other
   * @param node the name of the node
   * @return the connection, which the node closes
   * @throws TransportException if there is no connection, or the network refuses it
   * @throws IllegalStateException if the network cannot be used, for example because a server is
   * too old
   */
  ClusterTransport connect(String app, String node);

  /**
   * Returns the default lease of nodes.
   *
   * @return a time that is longer than the outages of servers that nodes must survive, for example
   * an election
   */
  default Duration lease() {
    return Duration.ofSeconds(6);
  }
}
