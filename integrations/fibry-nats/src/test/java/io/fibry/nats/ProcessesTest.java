package io.fibry.nats;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.pool.Entities;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests nodes that are processes of their own. */
class ProcessesTest {
  record Where() implements Request<Where, String> {}

  private static final Duration LEASE = Duration.ofSeconds(6);

  private final String app = Servers.app();
  private final String server = Servers.shared().url();
  private final List<NodeProcess> nodes = new ArrayList<>();
  private final Cluster client = join(app, server, "asking", Duration.ofMinutes(1));
  private final Entities<String, Where> entities = client.entities("place", Where.class);

  private static Cluster join(String app, String server, String node, Duration lease) {
    return Cluster.join(app, Servers.network(server),
        options -> options.withNode(node).withLease(lease).withPartitions(16));
  }

  /** Runs a node. The arguments are its app, its server, its name and its lease. */
  public static void main(String[] args) throws InterruptedException {
    Child.endWithParent();
    String node = args[2];
    join(args[0], args[1], node, Duration.parse(args[3])).host("place", Where.class, ActorSystem.anonymous(),
        Duration.ofMinutes(5),
        (builder, key) -> builder
            .newActor((Where where, ActorContext<Where> context) -> context.reply(where, node)));
    NodeProcess.reportJoined();
    Thread.currentThread().join(); // until the process is killed
  }

  private NodeProcess start(String node, Duration lease) {
    nodes.add(NodeProcess.start("-Xmx128m", ProcessesTest.class, app, server, node, lease.toString()));
    return nodes.getLast();
  }

  @AfterEach
  void end() {
    nodes.forEach(NodeProcess::close);
    client.close();
  }

  /** Asks a hundred keys until all have answered, and returns the nodes that host them. */
  private Set<String> hosts() {
    var hosts = new TreeSet<String>();
    IntStream.range(0, 100).forEach(i -> hosts.add(host(entities.actor("k" + i))));
    return hosts;
  }

  private static String host(Actor<Where> actor) {
    var host = new AtomicReference<String>();
    Patience.eventually(actor + " is not answered", () -> {
      try {
        host.set(actor.ask(new Where(), Duration.ofSeconds(1)));
        return true;
      } catch (RequestException failure) { // no node hosts the key yet
        return false;
      }
    });
    return host.get();
  }

  private void awaitHosts(String... nodes) {
    Patience.eventually("the hosts are not " + List.of(nodes), () -> hosts().equals(Set.of(nodes)));
  }

  @Test
  void eachOfTwoProcessesHostsKeys() {
    start("a", Duration.ofMinutes(1)).awaitJoined();
    start("b", Duration.ofMinutes(1)).awaitJoined();

    awaitHosts("a", "b");
  }

  @Soak(counterpart = "ClusterSimulationTest")
  @Test
  void keysOfKilledOrPausedProcessMoveToOtherProcess() {
    start("a", LEASE).awaitJoined();
    var b = start("b", LEASE);
    b.awaitJoined();
    awaitHosts("a", "b");

    b.kill();
    awaitHosts("a");

    var c = start("c", LEASE);
    c.awaitJoined();
    awaitHosts("a", "c");
    c.pause();
    awaitHosts("a");

    c.resume(); // the node joins again, with another id
    awaitHosts("a", "c");
  }
}
