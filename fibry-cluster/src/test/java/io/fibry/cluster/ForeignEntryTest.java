package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.membership.PartitionRight;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.pool.Entities;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a node while another program writes entries that look like partitions into its table. */
class ForeignEntryTest {
  record Count() implements Request<Count, Integer> {}

  private static final Subjects SUBJECTS = new Subjects("bank");

  private final ActorScope scope = ActorSystem.openScope("foreign-entry-test");
  private final TestNetwork network = TestNetwork.inMemory();

  @AfterEach
  void close() {
    scope.close();
  }

  private Entities<String, Count> counters(Cluster node) {
    return node.host("foreigncounter", Count.class, scope.anonymous(), Duration.ofHours(1),
        (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
  }

  @Test
  void foreignEntriesAreIgnoredWithOneWarning() {
    try (var log = new Logged();
        var transport = network.connect("bank", "foreign");
        var a = Cluster.join("bank", network, options -> options.withNode("a").withPartitions(1).withScope(scope))) {
      var counters = counters(a);
      var right = new PartitionRight("foreign", "a life", false, 0);
      for (var end : List.of("x", "", "-1", "+0", "00", "1", "99999999999", "0.x"))
        transport.create(SUBJECTS.partitionKeyPrefix("foreigncounter") + end, right.bytes(), ClusterTransport.FOREVER)
            .orElseThrow();

      Patience.eventually(() -> !log.lines("part.foreigncounter.").isEmpty());
      assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));

      assertEquals(1, a.health().partitions().get("foreigncounter"), log::text);
      assertEquals(1, counters.actor("k").ask(new Count(), Patience.LONG));
      assertEquals(1, log.lines("foreigncounter").size(), log::text);
    }
  }
}
