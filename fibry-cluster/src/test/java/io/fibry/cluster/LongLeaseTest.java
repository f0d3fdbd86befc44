package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests that the server does not delete the entry of a node between two heartbeats. */
class LongLeaseTest {
  private static final Duration LEASE = Duration.ofHours(10);

  @Test
  void entryOfNodeSurvivesBetweenHeartbeatsOfLongLease() {
    var clock = new ManualScheduler();
    var network = MemoryNetwork.create(clock);
    try (var scope = ActorSystem.openScope("long-lease", options -> options.withScheduler(clock))) {
      var node = Cluster.join("bank", network, options -> options.withNode("a").withLease(LEASE).withScope(scope));
      var selfBefore = node.self();

      for (int i = 0; i < 10; i++) {
        clock.advance(LEASE.dividedBy(10));
        assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
      }

      assertEquals(selfBefore, node.self());
      node.close();
    }
  }
}
