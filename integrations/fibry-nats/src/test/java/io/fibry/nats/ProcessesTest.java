package io.fibry.nats;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.pool.Entities;
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

/** Nodes that are processes. */
class ProcessesTest {
  record Where() implements Request<Where, String> {}

  private static final Duration LEASE = Duration.ofSeconds(6);

  private final String app = Servers.app();
  private final String server = Servers.shared().url();
  private final List<NodeProcess> nodes = new ArrayList<>();
  private final Cluster asking = join(app, server, "asking", Duration.ofMinutes(1));
  private final Entities<String, Where> places = asking.entities("place", Where.class);

  private static Cluster join(String app, String server, String node, Duration lease) {
    return Cluster.join(app, NatsNetwork.connectTo(server),
        options -> options.withNode(node).withLease(lease).withPartitions(16));
  }

  /** A node: its app, its server, its name and its lease. */
  public static void main(String[] args) throws InterruptedException {
    String node = args[2];
    join(args[0], args[1], node, Duration.parse(args[3])).host("place", Where.class, ActorSystem.anonymous(),
        Duration.ofMinutes(5),
        (builder, key) -> builder
            .newActor((Where where, ActorContext<Where> context) -> context.reply(where, node)));
    NodeProcess.tellJoined();
    Thread.currentThread().join(); // until it is killed
  }

  private NodeProcess start(String node, Duration lease) {
    nodes.add(NodeProcess.start("-Xmx128m", ProcessesTest.class, app, server, node, lease.toString()));
    return nodes.getLast();
  }

  @AfterEach
  void end() {
    nodes.forEach(NodeProcess::close);
    asking.close();
  }

  /** The nodes that answer for a hundred keys, when all do. */
  private Set<String> homes() {
    var homes = new TreeSet<String>();
    IntStream.range(0, 100).forEach(i -> homes.add(home(places.actor("k" + i))));
    return homes;
  }

  private static String home(Actor<Where> place) {
    var home = new AtomicReference<String>();
    Patience.eventually(place + " is not answered", () -> {
      try {
        home.set(place.ask(new Where(), Duration.ofSeconds(1)));
        return true;
      } catch (RequestException nobody) { // so far
        return false;
      }
    });
    return home.get();
  }

  private void awaitHomes(String... nodes) {
    Patience.eventually("the homes are not " + List.of(nodes), () -> homes().equals(Set.of(nodes)));
  }

  @Test
  void twoProcessesShareKeys() {
    start("a", Duration.ofMinutes(1)).awaitJoined();
    start("b", Duration.ofMinutes(1)).awaitJoined();

    awaitHomes("a", "b");
  }

  @Soak(counterpart = "ClusterSimulationTest")
  @Test
  void keysOfKilledOrPausedProcessMoveToAnother() {
    start("a", LEASE).awaitJoined();
    var b = start("b", LEASE);
    b.awaitJoined();
    awaitHomes("a", "b");

    b.kill();
    awaitHomes("a");

    var c = start("c", LEASE);
    c.awaitJoined();
    awaitHomes("a", "c");
    c.pause();
    awaitHomes("a");

    c.goOn(); // it joins again, with another life
    awaitHomes("a", "c");
  }
}
