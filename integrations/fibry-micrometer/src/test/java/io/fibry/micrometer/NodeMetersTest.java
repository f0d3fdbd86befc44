package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.support.Patience;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class NodeMetersTest {
  private final MockClock clock = new MockClock();
  private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

  record Count() implements Request<Count, Integer> {}

  private double gauge(String name) {
    return registry.get(name).tag("app", "shop").tag("node", "n1").gauge().value();
  }

  private void await(String name, double value) {
    Patience.eventually(() -> {
      clock.addSeconds(1); // so that the gauge takes a sample
      return gauge(name) == value;
    });
  }

  /** Joins with a lease that is long enough for a busy machine. */
  private static Cluster join(MemoryNetwork network, String node) {
    return Cluster.join("shop", network,
        options -> options.withNode(node).withPartitions(8).withLease(Duration.ofMinutes(1)));
  }

  @Test
  void nodeHealthIsShownByMeters() throws Exception {
    var network = MemoryNetwork.create();
    var gate = new CountDownLatch(1);
    try (var cluster = join(network, "n1")) {
      // @start region="node"
      var meters = new NodeMeters(cluster);
      meters.bindTo(registry);
      // @end
      assertEquals(1, gauge("fibry.node.alive"));
      assertEquals(1, gauge("fibry.node.connected"));
      assertEquals(0, gauge("fibry.node.leaving"));
      cluster.host("counter", Count.class, ActorSystem.anonymous(), Duration.ofMinutes(1),
          (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> {
            gate.await();
            context.reply(count, 1);
          }));
      await("fibry.node.partitions", 8);
      try (var otherNode = join(network, "n2")) {
        var answer = otherNode.entities("counter", Count.class).actor("x").sendMessageReturn(new Count());
        await("fibry.node.pending.requests", 1);
        await("fibry.node.members", 2);
        gate.countDown();
        assertEquals(1, Patience.value(answer));
      } finally {
        gate.countDown();
      }
      await("fibry.node.pending.requests", 0);
      await("fibry.node.members", 1);

      meters.close();
      assertEquals(List.of(), registry.getMeters());
    }
  }

  @Test
  void metersShowClosedNodeAsNotAlive() {
    var cluster = Cluster.join("shop", MemoryNetwork.create(), options -> options.withNode("n1"));
    new NodeMeters(cluster).bindTo(registry);

    cluster.close();

    await("fibry.node.connected", 0);
    await("fibry.node.alive", 0);
    assertEquals(1, gauge("fibry.node.leaving"));
  }
}
