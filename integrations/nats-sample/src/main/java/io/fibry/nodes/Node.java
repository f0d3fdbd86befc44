package io.fibry.nodes;

import io.fibry.ActorSystem;
import io.fibry.cluster.Cluster;
import io.fibry.nats.NatsNetwork;
import java.time.Duration;

/** A process of {@link FailoverRun} that hosts a share of the purses. */
final class Node {
  static final String APP = "three-nodes";

  private Node() {}

  /** @param args the name of the node, and the URLs of the servers */
  public static void main(String[] args) throws InterruptedException {
    var node = join(args[0], args[1]);
    node.host(Purses.PURSE, ActorSystem.anonymous(), Duration.ofMinutes(5));
    Runtime.getRuntime().addShutdownHook(new Thread(node::close));
    Thread.currentThread().join(); // until this process is killed
  }

  static Cluster join(String name, String servers) {
    return Cluster.join(APP, NatsNetwork.connectTo(servers).withReplicas(3),
        options -> options.withNode(name).withPartitions(64)
            .withLease(Duration.ofSeconds(6))); // enough, because no NATS server is killed
  }
}
