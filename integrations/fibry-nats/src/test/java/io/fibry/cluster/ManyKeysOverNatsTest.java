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
import io.fibry.nats.NodeProcess;
import io.fibry.nats.ServerEvidence;
import io.fibry.nats.Servers;
import io.fibry.pool.Entities;
import io.fibry.support.Child;
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

/** Tests that many keys on three node processes answer again after one process is killed. */
@Soak(counterpart = "ProcessesTest.eachOfTwoProcessesHostsKeys")
@ExtendWith(ServerEvidence.class)
class ManyKeysOverNatsTest {
  /** A durable page counts a visit once, however often the request is sent. */
  record Visit(String idempotencyKey) implements Request<Visit, VisitAnswer>, Idempotent {}

  /** The number of visits to the key, and the node that hosts it. */
  record VisitAnswer(long times, String node) {}

  record ReadState() implements Request<ReadState, NodeState> {}

  /** The heap bytes that a node uses, and the number of partitions that it owns. */
  record NodeState(long heap, int partitions) {}

  private static final int KEYS = Integer.getInteger("fibry.keys", 200_000);
  private static final List<String> NODES = List.of("a", "b", "c");
  private static final int PARTITIONS = 64;
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
    return Cluster.join(app, Servers.network(server),
        options -> options.withNode(node).withLease(LEASE).withPartitions(PARTITIONS));
  }

  private static Durable<Visit> page(String node) {
    return Durable.kind("page", Visit.class).state(0L).handler((times, visit, context) -> {
      context.reply(visit, new VisitAnswer(times + 1, node));
      return times + 1;
    });
  }

  /** Runs a node: its arguments are its app, its server, its name, and the kind that it hosts. */
  public static void main(String[] args) throws InterruptedException {
    Child.endWithParent();
    String node = args[2];
    var cluster = join(args[0], args[1], node);
    if (args[3].equals("page")) cluster.host(page(node), ActorSystem.anonymous(), Duration.ofMinutes(5));
    else cluster.host("place", Visit.class, ActorSystem.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
        .initialState(AtomicInteger::new).newActor((AtomicInteger times, Visit visit,
            ActorContext<Visit> context) -> context.reply(visit, new VisitAnswer(times.incrementAndGet(), node))));
    cluster.expose("state-" + node, ReadState.class,
        ActorSystem.anonymous().newActor((ReadState request, ActorContext<ReadState> context) -> {
          System.gc(); // so that garbage is not counted
          var runtime = Runtime.getRuntime();
          context.reply(request, new NodeState(runtime.totalMemory() - runtime.freeMemory(),
              cluster.health().partitions().getOrDefault(args[3], 0)));
        }));
    NodeProcess.reportJoined();
    Thread.currentThread().join(); // until the process is killed
  }

  private static NodeState state(Cluster client, String node) {
    return client.actor("state-" + node, ReadState.class).ask(new ReadState());
  }

  /** Returns true if each node owns its preferred partitions, so that no partition will move. */
  private static boolean areBalanced(Cluster client, String kind) {
    try {
      return RoutesOverNatsTest.hostCount(client, kind) == NODES.size() && NODES.stream().allMatch(
          node -> state(client, node).partitions()
              == RoutesOverNatsTest.preferredPartitions(client, kind, node, PARTITIONS));
    } catch (RequestException failure) {
      return false;
    }
  }

  /** Visits all keys with many askers, until each key has answered. */
  private static List<VisitAnswer> visit(Entities<String, Visit> entities, List<Integer> keys, Visit visit) {
    var answers = new VisitAnswer[keys.size()];
    var nextIndex = new AtomicInteger();
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var askers = IntStream.range(0, ASKERS).mapToObj(asker -> fibers.submit(() -> {
        for (int i = nextIndex.getAndIncrement(); i < answers.length; i = nextIndex.getAndIncrement())
          answers[i] = visit(entities.actor("k" + keys.get(i)), visit);
      })).toList();
      Patience.progress("not all keys are answered", nextIndex::get, () -> askers.stream().allMatch(Future::isDone));
      askers.forEach(Patience::value);
    }
    return List.of(answers);
  }

  private static VisitAnswer visit(Actor<Visit> page, Visit visit) {
    var answer = new AtomicReference<VisitAnswer>();
    Patience.eventually(page + " is not answered", () -> {
      try {
        answer.set(page.ask(visit, LIMIT));
        return true;
      } catch (RequestException | CancellationException failure) {
        return false;
      }
    });
    return answer.get();
  }

  @Test
  void allVolatileKeysAnswerAfterOwnerIsKilled() {
    startAndKill("place");
  }

  /** Each visit is stored, so visits after the kill take as long as visits before the kill. */
  @Test
  void allDurableKeysAnswerAfterOwnerIsKilled() {
    startAndKill("page");
  }

  private void startAndKill(String kind) {
    for (var node : NODES) processes
        .add(NodeProcess.start("-Xmx1g", ManyKeysOverNatsTest.class, app, server.url(), node, kind));
    processes.forEach(NodeProcess::awaitJoined);
    try (var client = join(app, server.url(), "asking")) {
      var entities = kind.equals("page") ? client.entities(page("")) : client.entities(kind, Visit.class);
      Patience.eventually(() -> areBalanced(client, kind));
      long begin = System.nanoTime();
      var firstAnswers = visit(entities, IntStream.range(0, KEYS).boxed().toList(), new Visit("first"));
      var firstTime = since(begin);
      System.out.printf("%,d keys of '%s' answered after %d ms, %s, heaps %s MB%n", KEYS, kind, firstTime.toMillis(),
          firstAnswers.stream().collect(Collectors.groupingBy(VisitAnswer::node, Collectors.counting())),
          heaps(client, NODES));

      processes.get(1).kill();
      long killTime = System.nanoTime();
      visitAgain(entities, kind, firstAnswers);
      var secondTime = since(killTime);
      System.out.printf("after 'b' was killed, they answered again after %d ms, heaps %s MB%n", secondTime.toMillis(),
          heaps(client, List.of("a", "c")));
    }
  }

  /** Visits the keys of the killed node, and at the same time all other keys. */
  private static void visitAgain(Entities<String, Visit> entities, String kind, List<VisitAnswer> firstAnswers) {
    var keysByLoss = IntStream.range(0, KEYS).boxed()
        .collect(Collectors.partitioningBy(key -> firstAnswers.get(key).node().equals("b")));
    var visit = new Visit("again");
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var otherAnswers = fibers.submit(() -> visit(entities, keysByLoss.get(false), visit));
      var lostAnswers = visit(entities, keysByLoss.get(true), visit);
      for (var answers : List.of(lostAnswers, Patience.value(otherAnswers))) for (var answer : answers) {
        assertNotEquals("b", answer.node());
        if (kind.equals("page")) assertEquals(2, answer.times()); // a page stores its state
      }
    }
  }

  private static Duration since(long begin) {
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  private static List<Long> heaps(Cluster client, List<String> nodes) {
    return nodes.stream().map(node -> state(client, node).heap() >> 20).toList();
  }
}
