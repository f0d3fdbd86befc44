package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.Durable;
import io.fibry.durable.Idempotent;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.NodeProcess;
import io.fibry.nats.ServerEvidence;
import io.fibry.nats.Servers;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Many keys on three nodes that are processes, one of which is killed. */
@Soak(counterpart = "ProcessesTest.twoProcessesShareKeys")
@ExtendWith(ServerEvidence.class)
class ManyKeysOverNatsTest {
  /** A durable page counts it once, however often it is asked. */
  record Visit(String idempotencyKey) implements Request<Visit, Seen>, Idempotent {}

  /** How often the key was visited, and where it lives. */
  record Seen(long times, String node) {}

  record Look() implements Request<Look, State> {}

  /** The bytes that a node uses, and how many parts it owns. */
  record State(long heap, int parts) {}

  private static final int KEYS = Integer.getInteger("fibry.keys", 200_000);
  private static final List<String> NODES = List.of("a", "b", "c");
  private static final int PARTS = 64;
  private static final int ASKERS = 256;
  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final String app = Servers.app();
  private final List<NodeProcess> processes = new ArrayList<>();
  private NatsServer server;

  @BeforeEach
  void start() {
    server = Servers.start();
  }

  @AfterEach
  void end() {
    processes.forEach(NodeProcess::close);
    if (server != null) server.close();
  }

  private static Cluster join(String app, String server, String node) {
    return Cluster.join(app, NatsNetwork.connectTo(server),
        options -> options.withNode(node).withLease(LEASE).withPartitions(PARTS));
  }

  private static Durable<Visit> page(String node) {
    return Durable.kind("page", Visit.class).state(0L).handler((times, visit, context) -> {
      context.reply(visit, new Seen(times + 1, node));
      return times + 1;
    });
  }

  /** Runs a node: its arguments are its app, its server, its name, and the kind that it hosts. */
  public static void main(String[] args) throws InterruptedException {
    String node = args[2];
    var own = join(args[0], args[1], node);
    if (args[3].equals("page")) own.host(page(node), ActorSystem.anonymous(), Duration.ofMinutes(5));
    else own.host("place", Visit.class, ActorSystem.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
        .initialState(AtomicInteger::new).newActor((AtomicInteger times, Visit visit,
            ActorContext<Visit> context) -> context.reply(visit, new Seen(times.incrementAndGet(), node))));
    own.expose("state-" + node, Look.class,
        ActorSystem.anonymous().newActor((Look look, ActorContext<Look> context) -> {
          System.gc(); // only what is alive counts
          var runtime = Runtime.getRuntime();
          context.reply(look, new State(runtime.totalMemory() - runtime.freeMemory(),
              own.health().partitions().getOrDefault(args[3], 0)));
        }));
    NodeProcess.tellJoined();
    Thread.currentThread().join(); // until it is killed
  }

  private static State state(Cluster asking, String node) {
    return asking.actor("state-" + node, Look.class).ask(new Look());
  }

  /** Each node has what it should have, so that nothing moves. */
  private static boolean areShared(Cluster asking, String kind) {
    try {
      return RoutesOverNatsTest.hosts(asking, kind) == NODES.size() && NODES.stream().allMatch(
          node -> state(asking, node).parts() == RoutesOverNatsTest.wished(asking, kind, node, PARTS));
    } catch (RequestException notYet) {
      return false;
    }
  }

  /** Visits each key until it is answered, by as many askers as there are. */
  private static List<Seen> visit(Entities<String, Visit> entities, List<Integer> keys, Visit visit) {
    var seen = new Seen[keys.size()];
    var next = new AtomicInteger();
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var askers = IntStream.range(0, ASKERS).mapToObj(none -> fibers.submit(() -> {
        for (int i = next.getAndIncrement(); i < seen.length; i = next.getAndIncrement())
          seen[i] = visit(entities.actor("k" + keys.get(i)), visit);
      })).toList();
      Patience.progress("not all keys are answered", next::get, () -> askers.stream().allMatch(Future::isDone));
      askers.forEach(Patience::value);
    }
    return List.of(seen);
  }

  private static Seen visit(Actor<Visit> one, Visit visit) {
    var seen = new AtomicReference<Seen>();
    Patience.eventually(one + " is not answered", () -> {
      try {
        seen.set(one.ask(visit, LIMIT));
        return true;
      } catch (RequestException | CancellationException again) {
        return false;
      }
    });
    return seen.get();
  }

  @Test
  void allVolatileKeysAnswerAfterKill() {
    startAndKill("place");
  }

  /** Each visit is stored, which takes as long as at first. */
  @Test
  void allDurableKeysAnswerAfterKill() {
    startAndKill("page");
  }

  private void startAndKill(String kind) {
    for (var node : NODES) processes
        .add(NodeProcess.start("-Xmx1g", ManyKeysOverNatsTest.class, app, server.url(), node, kind));
    processes.forEach(NodeProcess::awaitJoined);
    try (var asking = join(app, server.url(), "asking")) {
      var entities = kind.equals("page") ? asking.entities(page("")) : asking.entities(kind, Visit.class);
      Patience.eventually(() -> areShared(asking, kind));
      long begin = System.nanoTime();
      var homes = visit(entities, IntStream.range(0, KEYS).boxed().toList(), new Visit("first"));
      var first = since(begin);
      System.out.printf("%,d keys of '%s' answered after %d ms, %s, heaps %s MB%n", KEYS, kind, first.toMillis(),
          homes.stream().collect(Collectors.groupingBy(Seen::node, Collectors.counting())), heaps(asking, NODES));

      processes.get(1).kill();
      long killed = System.nanoTime();
      visitAgain(entities, kind, homes);
      var again = since(killed);
      System.out.printf("after 'b' was killed, they answered again after %d ms, heaps %s MB%n", again.toMillis(),
          heaps(asking, List.of("a", "c")));
    }
  }

  /** Those that lived elsewhere do not wait for the others. */
  private static void visitAgain(Entities<String, Visit> entities, String kind, List<Seen> homes) {
    var byLoss = IntStream.range(0, KEYS).boxed()
        .collect(Collectors.partitioningBy(key -> homes.get(key).node().equals("b")));
    var again = new Visit("again");
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var others = fibers.submit(() -> visit(entities, byLoss.get(false), again));
      var lost = visit(entities, byLoss.get(true), again);
      for (var all : List.of(lost, Patience.value(others))) for (var one : all) {
        assertNotEquals("b", one.node());
        if (kind.equals("page")) assertEquals(2, one.times()); // its state is stored
      }
    }
  }

  private static Duration since(long begin) {
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  private static List<Long> heaps(Cluster asking, List<String> nodes) {
    return nodes.stream().map(node -> state(asking, node).heap() >> 20).toList();
  }
}
