package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.nats.NatsNetwork;
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
 * Keys move between nodes that have different servers, so that their messages go over routes, where
 * one may overtake what a server still learns of subscriptions.
 */
@Soak(counterpart = "EntityPlacementOverNatsTest.movesNeitherLoseNorRepeatRequests")
@ExtendWith(ServerEvidence.class)
class RoutesOverNatsTest {
  sealed interface Message {}

  record Ask(long id) implements Message, Request<Ask, Long> {}

  record Tell(long id) implements Message {}

  private static final int MOVES = Integer.getInteger("fibry.rounds", 50);
  private static final Duration CALM = Duration.ofSeconds(2);
  private static final int SERVERS = 3;
  private static final int ASKERS = 16;
  private static final int KEYS = 500;
  private static final int PARTS = 32;

  private final String app = Servers.app();
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final ActorScope scope = ActorSystem.openScope("routes-test");
  private final List<NatsServer> servers = new ArrayList<>();
  private final Map<Long, Integer> handled = new ConcurrentHashMap<>(); // how often, by id
  private final AtomicLong sent = new AtomicLong(); // the last id
  private final List<AtomicLong> waited = Stream.generate(AtomicLong::new).limit(ASKERS).toList(); // longest, of each
  private final AtomicBoolean end = new AtomicBoolean();

  @AfterEach
  void close() {
    end.set(true);
    scope.close();
    servers.forEach(NatsServer::close);
  }

  private Cluster join(String node, int number) {
    var network = NatsNetwork.connectTo(servers.get(number % SERVERS).url()).withReplicas(SERVERS);
    return Cluster.join(app, network,
        options -> options.withNode(node + number).withPartitions(PARTS).withSettleTime(CALM)
            .withLease(TestNetwork.LEASE).withScope(scope)); // a busy machine is not taken for dead
  }

  private Cluster home(int number) {
    var node = join("home", number);
    node.host("place", Message.class, scope.anonymous(), Duration.ofMinutes(5),
        (builder, key) -> builder.newActor(this::handle));
    return node;
  }

  private void handle(Message message, ActorContext<Message> context) {
    switch (message) {
      case Tell tell -> handled.merge(tell.id(), 1, Integer::sum);
      case Ask ask -> {
        handled.merge(ask.id(), 1, Integer::sum);
        context.reply(ask, ask.id());
      }
    }
  }

  /** One message in eight is not answered. A failure fails the test. */
  private void send(Entities<String, Message> places, int asker) {
    var random = new Random(seed + asker);
    while (!end.get()) {
      var place = places.actor("k" + random.nextInt(KEYS));
      long id = sent.incrementAndGet();
      if (random.nextInt(8) == 0) assertTrue(place.sendMessage(new Tell(id)));
      else {
        long begin = System.nanoTime();
        assertEquals(id, place.ask(new Ask(id)));
        waited.get(asker).accumulateAndGet(System.nanoTime() - begin, Math::max);
      }
    }
  }

  /** All nodes that are home see what each should have, and have it. */
  private static void awaitParts(Collection<Cluster> homes) {
    for (var home : homes) Patience.eventually(() -> hosts(home, "place") == homes.size()
        && home.health().partitions().get("place") == wished(home, "place", home.self().name(), PARTS));
  }

  static long hosts(Cluster node, String kind) {
    return node.members().stream().filter(one -> one.hosts().contains(kind)).count();
  }

  /** How many parts a node should have, as another one sees it. */
  static int wished(Cluster seeing, String kind, String node, int parts) {
    var members = seeing.members();
    return (int) IntStream.range(0, parts)
        .filter(part -> PartitionAssignment.preferredNode(kind, part, members).filter(node::equals).isPresent())
        .count();
  }

  @Test
  void movesAcrossServersNeitherLoseNorRepeatRequests() throws Exception {
    Servers.assumeThere();
    System.out.println("moves over routes: -Dfibry.seed=" + seed);
    servers.addAll(NatsServer.cluster(Servers.folder(), SERVERS));
    var homes = new ArrayDeque<>(List.of(home(0), home(1))); // the oldest first
    awaitParts(homes);
    var silences = new ArrayList<Long>(); // of each asker in each move
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var fronts = IntStream.range(0, SERVERS).mapToObj(i -> join("front", i)).toList();
      var askers = IntStream.range(0, ASKERS).mapToObj(i -> fibers.submit(
          () -> send(fronts.get(i % SERVERS).entities("place", Message.class), i))).toList();
      try {
        for (int i = 0; i < MOVES; i++) {
          if (i % 2 == 0) homes.add(home(2 + i / 2));
          else homes.remove().close();
          awaitParts(homes);
          for (var one : waited) silences.add(one.getAndSet(0));
        }
      } finally {
        end.set(true); // otherwise the askers would continue
      }
      askers.forEach(Patience::value);
      Patience.progress("messages were lost; -Dfibry.seed=" + seed, handled::size, () -> handled.size() == sent.get());
      fronts.forEach(Cluster::close);
      homes.forEach(Cluster::close);
    }
    check(silences);
  }

  private void check(List<Long> silences) {
    var times = silences.stream().sorted().mapToLong(TimeUnit.NANOSECONDS::toMillis).toArray();
    long most = times[times.length * 99 / 100];
    System.out.printf("%d moves, %,d messages; the longest that one of %d askers waited in a move: "
        + "p50 %d ms, p99 %d ms, at most %d ms%n", MOVES, sent.get(), ASKERS, times[times.length / 2], most,
        times[times.length - 1]);
    assertEquals(0, handled.values().stream().filter(often -> often > 1).count(), () -> "twice, -Dfibry.seed=" + seed);
  }
}
