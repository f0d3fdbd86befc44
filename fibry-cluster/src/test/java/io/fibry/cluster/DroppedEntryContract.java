package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.cluster.Places.Where;
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.cluster.wire.Subjects;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a living node whose entry a server drops, as if the server's wall clock were set forward.
 * The leases last one minute, so they do not expire during a test.
 */
abstract class DroppedEntryContract {
  private static final int KEYS = 20;
  private static final int PARTITIONS = 8;

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("dropped-entry-test");

  DroppedEntryContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  @AfterEach
  void close() {
    scope.close();
  }

  private Cluster join(String node) {
    return Cluster.join(app, network,
        options -> options.withNode(node).withPartitions(PARTITIONS).withSettleTime(Duration.ofMillis(200))
            .withScope(scope));
  }

  private static List<String> answers(Entities<String, Where> places) {
    return IntStream.range(0, KEYS).mapToObj(i -> places.actor("k" + i).ask(new Where(), Patience.LONG)).toList();
  }

  @Test
  void nodeKeepsPartitionsWhenServerDropsItsEntry() {
    try (var a = join("a"); var b = join("b"); var server = network.connect(app, "server")) {
      Places.host(a, scope);
      var places = Places.host(b, scope);
      Patience.eventually(() -> b.members().size() == 2 && answers(places).equals(preferredNodes(b)));
      var answersBefore = answers(places);

      String key = new Subjects(app).keyOfNode("a");
      var entry = server.get(key).orElseThrow();
      assertTrue(server.delete(key, entry.version()));
      var heartbeat = entry.value().orElseThrow();
      assertTrue(server.update(key, heartbeat, entry.version(), TestNetwork.LEASE).isEmpty());
      for (int i = 0; i < 20; i++) assertEquals(answersBefore, answers(places));
      assertTrue(b.members().contains(a.self()));
    }
  }

  @Test
  void nodeWithDroppedEntryRejoinsWithNewLifeAtHeartbeat() {
    try (var a = join("a"); var server = network.connect(app, "server")) {
      var places = Places.host(a, scope);
      String life = a.self().id();

      String key = new Subjects(app).keyOfNode("a");
      assertTrue(server.delete(key, server.get(key).orElseThrow().version()));
      a.expose("till", Where.class, scope.anonymous().newActor((Where where, ActorContext<Where> context) -> context
          .reply(where, "till"))); // causes a heartbeat

      Patience.eventually(() -> !a.self().id().equals(life) && a.health().isAlive());
      assertNotEquals(life, a.self().id());
      assertEquals(List.of("a"), answers(places).stream().distinct().toList());
    }
  }

  /** Returns the preferred node of each key. */
  private static List<String> preferredNodes(Cluster node) {
    return IntStream.range(0, KEYS)
        .mapToObj(
            i -> PartitionAssignment
                .preferredNode("place", PartitionAssignment.partitionOf("k" + i, PARTITIONS), node.members())
                .orElse(""))
        .toList();
  }
}
