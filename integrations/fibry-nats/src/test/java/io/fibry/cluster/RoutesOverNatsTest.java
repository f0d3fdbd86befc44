package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.nats.ServerEvidence;
import io.fibry.nats.Servers;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests that moves of keys between nodes lose and repeat no requests. The nodes use different
 * servers, so a message may reach a server before the subscription for which it is meant.
 */
@Soak(counterpart = "EntityPlacementOverNatsTest.movingKeysNeitherLoseNorRepeatRequests")
@ExtendWith(ServerEvidence.class)
class RoutesOverNatsTest {
  sealed interface Message {}

  record Ask(long id) implements Message, Request<Ask, Long> {}

  record Tell(long id) implements Message {}

  private static final int MOVES = Integer.getInteger("fibry.rounds", 50);
  private static final Duration SETTLE_TIME = Duration.ofSeconds(2);
  private static final int SERVERS = 3;
  private static final int ASKERS = 16;
  private static final int KEYS = 500;
  private static final int PARTITIONS = 32;

  private final String app = Servers.app();
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final ActorScope scope = ActorSystem.openScope("routes-test");
  private final List<NatsServer> servers = new ArrayList<>();
  private final Map<Long, Integer> handledCounts = new ConcurrentHashMap<>(); // by id
  private final AtomicLong lastId = new AtomicLong(); // of a message
  private final List<AtomicLong> longestWaits = Stream.generate(AtomicLong::new).limit(ASKERS).toList(); // by asker
  private final AtomicBoolean stop = new AtomicBoolean();

  @AfterEach
  void close() {
    stop.set(true);
    scope.close();
    servers.forEach(NatsServer::close);
  }

  private Cluster join(String node, int number) {
    var network = Servers.network(servers.get(number % SERVERS)).withReplicas(SERVERS);
    return Cluster.join(app, network,
        options -> options.withNode(node + number).withPartitions(PARTITIONS).withSettleTime(SETTLE_TIME)
            .withLease(TestNetwork.LEASE).withScope(scope)); // long enough for a busy machine
  }

  private Cluster joinHost(int number) {
    var node = join("home", number);
    node.host("place", Message.class, scope.anonymous(), Duration.ofMinutes(5),
        (builder, key) -> builder.newActor(this::handle));
    return node;
  }

  private void handle(Message message, ActorContext<Message> context) {
    switch (message) {
      case Tell tell -> handledCounts.merge(tell.id(), 1, Integer::sum);
      case Ask ask -> {
        handledCounts.merge(ask.id(), 1, Integer::sum);
        context.reply(ask, ask.id());
      }
    }
  }

  /** Sends tells and requests until the test stops. A failed request fails the test. */
  private void send(Entities<String, Message> entities, int asker) {
    var random = new Random(seed + asker);
    while (!stop.get()) {
      var entity = entities.actor("k" + random.nextInt(KEYS));
      long id = lastId.incrementAndGet();
      if (random.nextInt(8) == 0) assertTrue(entity.sendMessage(new Tell(id)));
      else {
        long begin = System.nanoTime();
        assertEquals(id, entity.ask(new Ask(id)));
        longestWaits.get(asker).accumulateAndGet(System.nanoTime() - begin, Math::max);
      }
    }
  }

  /** Waits until all hosts see each other, and each owns its preferred partitions. */
  private static void awaitBalance(Collection<Cluster> hosts) {
    for (var host : hosts) Patience.eventually(() -> hostCount(host, "place") == hosts.size()
        && host.health().partitions().get("place")
            == preferredPartitions(host, "place", host.self().name(), PARTITIONS));
  }

  static long hostCount(Cluster node, String kind) {
    return node.members().stream().filter(member -> member.hosts().contains(kind)).count();
  }

  /** Returns the number of partitions that the node should own, as the observer sees it. */
  static int preferredPartitions(Cluster observer, String kind, String node, int partitions) {
    var members = observer.members();
    return (int) IntStream.range(0, partitions)
        .filter(partition -> PartitionAssignment.preferredNode(kind, partition, members).filter(node::equals)
            .isPresent())
        .count();
  }

  @Test
  void keysMovingAcrossServersNeitherLoseNorRepeatRequests() throws Exception {
    Servers.assumeInstalled();
    System.out.println("moves over routes: -Dfibry.seed=" + seed);
    servers.addAll(NatsServer.cluster(Servers.folder(), SERVERS));
    var hosts = new ArrayDeque<>(List.of(joinHost(0), joinHost(1))); // the oldest first
    awaitBalance(hosts);
    var waits = new ArrayList<Long>(); // the longest wait of each asker in each move
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var clients = IntStream.range(0, SERVERS).mapToObj(i -> join("front", i)).toList();
      var askers = IntStream.range(0, ASKERS).mapToObj(i -> fibers.submit(
          () -> send(clients.get(i % SERVERS).entities("place", Message.class), i))).toList();
      try {
        for (int i = 0; i < MOVES; i++) {
          if (i % 2 == 0) hosts.add(joinHost(2 + i / 2));
          else hosts.remove().close();
          awaitBalance(hosts);
          for (var longestWait : longestWaits) waits.add(longestWait.getAndSet(0));
        }
      } finally {
        stop.set(true); // otherwise the askers would continue
      }
      askers.forEach(Patience::value);
      Patience.progress("messages were lost; -Dfibry.seed=" + seed, handledCounts::size,
          () -> handledCounts.size() == lastId.get());
      clients.forEach(Cluster::close);
      hosts.forEach(Cluster::close);
    }
    check(waits);
  }

  private void check(List<Long> waits) {
    var times = waits.stream().sorted().mapToLong(TimeUnit.NANOSECONDS::toMillis).toArray();
    long p99 = times[times.length * 99 / 100];
    System.out.printf("%d moves, %,d messages; the longest wait of each of %d askers in a move: "
        + "p50 %d ms, p99 %d ms, at most %d ms%n", MOVES, lastId.get(), ASKERS, times[times.length / 2], p99,
        times[times.length - 1]);
    assertEquals(0, handledCounts.values().stream().filter(count -> count > 1).count(),
        () -> "messages were handled twice; -Dfibry.seed=" + seed);
  }
}
