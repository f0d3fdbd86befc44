package io.fibry.nats;

import io.fibry.ActorSystem;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.durable.Ledgers;
import io.fibry.support.Child;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A process with a node that hosts {@link Ledgers}. */
final class LedgerNode {
  static final Duration LEASE = Duration.ofSeconds(4);
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);

  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100); // between two attempts to join

  private LedgerNode() {}

  static NodeProcess start(String app, String urls, int replicas, String node) {
    return NodeProcess.start("-Xmx192m", LedgerNode.class, app, urls, Integer.toString(replicas), node);
  }

  /** Runs a node. Arguments: its app, its servers, the number of replicas, and its name. */
  public static void main(String[] args) throws InterruptedException {
    Child.endWithParent();
    String node = args[3];
    var cluster = joinWhenConnected(args[0], network(args[1], Integer.parseInt(args[2])), node);
    cluster.host(Ledgers.kind(node), ActorSystem.anonymous(), IDLE_LIMIT);
    cluster.host(Ledgers.inboxKind(node), ActorSystem.anonymous(), IDLE_LIMIT);
    NodeProcess.reportJoined();
    Thread.currentThread().join(); // until the process is killed
  }

  /**
   * Connects to these URLs only. In tests of faults they are the URLs of proxies, through which all
   * bytes must pass.
   */
  static NatsNetwork network(String urls, int replicas) {
    return NatsNetwork.connectTo(urls).withReplicas(replicas).withOptions(options -> options.ignoreDiscoveredServers());
  }

  /**
   * Joins, and tries again while the network fails, as if an operator started the process again.
   */
  private static Cluster joinWhenConnected(String app, NatsNetwork network, String node) {
    while (true) try {
      return join(app, network, node);
    } catch (TransportException failure) {
      System.out.println(node + " did not join: " + failure.getMessage());
      LockSupport.parkNanos(PAUSE);
    }
  }

  static Cluster join(String app, NatsNetwork network, String node) {
    return Cluster.join(app, network, options -> options.withNode(node).withLease(LEASE).withPartitions(32));
  }

  /** Returns the actors of the ledgers as the client reaches them. */
  static Ledgers.Addresses addresses(Cluster client) {
    return new Ledgers.Addresses(client.entities(Ledgers.kind("nowhere")),
        client.entities(Ledgers.inboxKind("nowhere")));
  }
}
