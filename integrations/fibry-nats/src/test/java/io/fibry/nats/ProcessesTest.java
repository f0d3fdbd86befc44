package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.pool.Entities;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes that are processes: one is killed, one stands still for longer than its lease. */
class ProcessesTest {
  record Where() implements Request<Where, String> {}

  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final String app = Servers.app();
  private final String server = Servers.shared().url();
  private final List<NodeProcess> nodes = new ArrayList<>();
  private final Cluster asking = join(app, server, "asking");
  private final Entities<String, Where> places = asking.entities("place", Where.class);

  private static Cluster join(String app, String server, String node) {
    return Cluster.join(app, NatsNetwork.at(server),
        options -> options.withNode(node).withLease(LEASE).withParts(16));
  }

  /** A node: its app, its server and its name. */
  public static void main(String[] args) throws InterruptedException {
    String node = args[2];
    join(args[0], args[1], node).host("place", Where.class, ActorSystem.anonymous(), Duration.ofMinutes(5),
        (builder, key) -> builder
            .newActor((Where where, ActorContext<Where> context) -> context.reply(where, node)));
    Thread.currentThread().join(); // until it is killed
  }

  private NodeProcess start(String node) throws IOException {
    nodes.add(NodeProcess.start("-Xmx128m", ProcessesTest.class, app, server, node));
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
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) try {
      return place.ask(new Where(), Duration.ofSeconds(1));
    } catch (RequestException nobody) { // so far
      assertTrue(System.nanoTime() < end, () -> place + " is not answered");
    }
  }

  private void awaitHomes(String... nodes) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    for (var homes = homes(); !homes.equals(Set.of(nodes)); homes = homes()) {
      var seen = homes;
      assertTrue(System.nanoTime() < end, () -> "the homes are " + seen);
    }
  }

  @Test
  void keysOfAProcessThatIsKilledOrStandsStillHaveAnotherHome() throws Exception {
    start("a");
    var b = start("b");
    awaitHomes("a", "b");

    b.kill();
    awaitHomes("a");

    var c = start("c");
    awaitHomes("a", "c");
    c.pause();
    awaitHomes("a");

    c.goOn(); // it joins again, with another life
    awaitHomes("a", "c");
  }
}
