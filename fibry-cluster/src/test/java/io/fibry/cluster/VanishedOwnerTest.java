package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.membership.NodeState;
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.cluster.membership.PartitionRight;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a node that takes over a partition, and ends before the previous owner learns of the
 * takeover.
 */
class VanishedOwnerTest {
  record Count() implements Request<Count, Integer> {}

  private static final Subjects SUBJECTS = new Subjects("bank");
  private static final String PARTITION_KEY = SUBJECTS.keyOfPartition("counter", 0);

  private final ActorScope scope = ActorSystem.openScope("next-owner-test");
  private final TestNetwork network = TestNetwork.inMemory();

  @AfterEach
  void close() {
    scope.close();
  }

  private static Member member(String name) {
    return new Member(name, "life of " + name, Set.of("counter"), Set.of(), Instant.now());
  }

  /** Returns the name of a node that is preferred to the other node as owner of the partition. */
  private static String nodePreferredTo(String otherNode) {
    for (int i = 0;; i++) {
      var members = List.of(member("b" + i), member(otherNode));
      if (PartitionAssignment.preferredNode("counter", 0, members).equals(Optional.of("b" + i))) return "b" + i;
    }
  }

  private static Optional<PartitionRight> right(ClusterTransport transport) {
    return transport.get(PARTITION_KEY).flatMap(PartitionRight::of);
  }

  private Entities<String, Count> counters(Cluster node) {
    return node.host("counter", Count.class, scope.anonymous(), Duration.ofHours(1),
        (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
  }

  @Test
  void ownerTakesBackPartitionWhoseNextOwnerDied() {
    String nextOwner = nodePreferredTo("a");
    try (var transport = network.connect("bank", nextOwner);
        var a = Cluster.join("bank", network,
            options -> options.withNode("a").withPartitions(1).withSettleTime(Duration.ofMillis(50))
                .withScope(scope))) {
      var counters = counters(a);
      assertEquals(1, counters.actor("k").ask(new Count(), Patience.LONG));

      var stateOfNextOwner = new NodeState(member(nextOwner), Map.of(), Optional.empty(), Optional.empty());
      long memberVersion = transport
          .create(SUBJECTS.keyOfNode(nextOwner), stateOfNextOwner.bytes(), ClusterTransport.FOREVER).orElseThrow();
      Patience.eventually(() -> right(transport).filter(PartitionRight::free).isPresent());
      long rightVersion = transport.get(PARTITION_KEY).orElseThrow().version();
      var rightOfNextOwner = new PartitionRight(nextOwner, member(nextOwner).id(), false, rightVersion);
      assertTrue(transport.update(PARTITION_KEY, rightOfNextOwner.bytes(), rightVersion, ClusterTransport.FOREVER)
          .isPresent());
      assertTrue(stateOfNextOwner.end(transport, SUBJECTS.keyOfNode(nextOwner), memberVersion, "a test ended it"));

      Patience.eventually(() -> right(transport).filter(right -> right.isOwnedBy(a.self())).isPresent());
      assertEquals(1, counters.actor("k").ask(new Count(), Patience.LONG));
    }
  }
}
