package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.pool.Entities;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that are processes: one is killed, one stands still for longer than its lease. */
@Timeout(180)
class ProcessesTest {
  record Where() implements Request<Where, String> {}

  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final String app = Servers.app();
  private final String server = Servers.shared().url();
  private final List<Process> nodes = new ArrayList<>();
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

  private Process start(String node) throws IOException {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var process = new ProcessBuilder(java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp",
        System.getProperty("java.class.path"), ProcessesTest.class.getName(), app, server, node).inheritIO().start();
    nodes.add(process);
    return process;
  }

  @AfterEach
  void end() {
    nodes.forEach(Process::destroyForcibly);
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

  private static void signal(Process process, String name) throws IOException, InterruptedException {
    var kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertTrue(kill.waitFor(10, TimeUnit.SECONDS));
    assertEquals(0, kill.exitValue());
  }

  @Test
  void keysOfAProcessThatIsKilledOrStandsStillHaveAnotherHome() throws Exception {
    start("a");
    var b = start("b");
    awaitHomes("a", "b");

    signal(b, "KILL");
    awaitHomes("a");

    var c = start("c");
    awaitHomes("a", "c");
    signal(c, "STOP");
    awaitHomes("a");

    signal(c, "CONT"); // it joins again, with another life
    awaitHomes("a", "c");
  }
}
