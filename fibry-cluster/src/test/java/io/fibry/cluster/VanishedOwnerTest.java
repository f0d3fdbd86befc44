package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
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

/** A node takes a part that was given to it, and is gone before the node before knows it. */
class VanishedOwnerTest {
  record Count() implements Request<Count, Integer> {}

  private static final Subjects SUBJECTS = new Subjects("bank");
  private static final String PART = SUBJECTS.keyOfPartition("counter", 0);

  private final ActorScope scope = ActorSystem.openScope("next-owner-test");
  private final TestNetwork network = TestNetwork.inMemory();

  @AfterEach
  void close() {
    scope.close();
  }

  private static Member home(String name) {
    return new Member(name, "life of " + name, Set.of("counter"), Set.of(), Instant.now());
  }

  /** A name whose node is the home of the only part, wherever {@code other} is a home, too. */
  private static String nameOfHomeBefore(String other) {
    for (int i = 0;; i++) {
      var both = List.of(home("b" + i), home(other));
      if (PartitionAssignment.preferredNode("counter", 0, both).equals(Optional.of("b" + i))) return "b" + i;
    }
  }

  private static Optional<PartitionRight> right(ClusterTransport engine) {
    return engine.get(PART).flatMap(PartitionRight::of);
  }

  private Entities<String, Count> counters(Cluster node) {
    return node.host("counter", Count.class, scope.anonymous(), Duration.ofHours(1),
        (how, key) -> how.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
  }

  @Test
  void partitionOfDeadNextOwnerIsReclaimed() {
    String next = nameOfHomeBefore("a");
    try (var engine = network.connect("bank", next);
        var a = Cluster.join("bank", network,
            options -> options.withNode("a").withPartitions(1).withSettleTime(Duration.ofMillis(50))
                .withScope(scope))) {
      var counters = counters(a);
      assertEquals(1, counters.actor("k").ask(new Count(), Patience.LONG));

      var joined = new NodeState(home(next), Map.of(), Optional.empty(), Optional.empty());
      long member = engine.create(SUBJECTS.keyOfNode(next), joined.bytes(), ClusterTransport.FOREVER).orElseThrow();
      Patience.eventually(() -> right(engine).filter(PartitionRight::free).isPresent());
      long given = engine.get(PART).orElseThrow().version();
      var taken = new PartitionRight(next, home(next).id(), false, given);
      assertTrue(engine.update(PART, taken.bytes(), given, ClusterTransport.FOREVER).isPresent());
      assertTrue(joined.end(engine, SUBJECTS.keyOfNode(next), member, "a test ended it"));

      Patience.eventually(() -> right(engine).filter(one -> one.isOwnedBy(a.self())).isPresent());
      assertEquals(1, counters.actor("k").ask(new Count(), Patience.LONG));
    }
  }
}
