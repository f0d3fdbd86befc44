package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import java.time.Duration;

/** The means by which nodes find each other: a server, or this process. */
@FunctionalInterface
public interface ClusterNetwork {

  /**
   * Connects a node.
   *
   * @param app whose nodes see each other
   * @param node its name
   * @return closed by the node
   * @throws TransportException if there is no connection, or the network refuses it
   * @throws IllegalStateException if the network cannot be used, for example because a server is
   * too old
   */
  ClusterTransport connect(String app, String node);

  /**
   * The lease of nodes that are not told another one.
   *
   * @return longer than servers may be busy with themselves
   */
  default Duration lease() {
    return Duration.ofSeconds(6);
  }
}
