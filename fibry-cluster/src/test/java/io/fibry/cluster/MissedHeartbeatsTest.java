package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Node b misses the last heartbeats of node a. The server then drops the entry of node a. The lease
 * of node a may thus be valid for longer than node b has measured.
 */
class MissedHeartbeatsTest {
  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration TICK = Duration.ofMillis(500);
  private static final int PARTITIONS = 8;

  private final ManualScheduler clock = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("stuck-watch", options -> options.withScheduler(clock));
  private volatile boolean watchIsStuck; // true: node b gets no changes of the table
  private volatile boolean tableIsCut; // true: node a cannot use the table

  @AfterEach
  void close() {
    scope.close();
  }

  private ClusterTransport withFaults(ClusterTransport transport, String node) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (node.equals("b") && method.getName().equals("watch")) {
        @SuppressWarnings("unchecked") var reader = (Consumer<Object>) arguments[1];
        arguments[1] = (Consumer<Object>) entry -> {
          if (!watchIsStuck) reader.accept(entry);
        };
      }
      if (node.equals("a") && tableIsCut && method.getName().matches("get|create|update|delete"))
        throw new TransportException(Failure.DISCONNECTED, "a test cut the connection");
      return call.pass();
    });
  }

  private Cluster joinAndHost(String name) {
    var node = Cluster.join("bank", (app, nodeName) -> withFaults(network.connect(app, nodeName), nodeName),
        options -> options.withNode(name).withLease(LEASE).withPartitions(PARTITIONS).withScope(scope));
    Places.host(node, scope);
    return node;
  }

  private void passTime(Duration time) {
    for (var remaining = time; remaining.isPositive(); remaining = remaining.minus(TICK)) {
      clock.advance(TICK);
      assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    }
  }

  private static int partitions(Cluster node) {
    return node.health().partitions().get("place");
  }

  @Test
  void nodeTakesNoPartitionWhileLeaseOfOwnerMayLast() {
    var a = joinAndHost("a");
    var b = joinAndHost("b");
    passTime(Duration.ofSeconds(20));
    int partitionsBefore = partitions(b);
    assertTrue(partitionsBefore > 0 && partitionsBefore < PARTITIONS, () -> partitionsBefore + " partitions");

    watchIsStuck = true;
    passTime(LEASE.minusSeconds(1));
    tableIsCut = true;
    try (var server = network.connect("bank", "server")) {
      String key = new Subjects("bank").keyOfNode("a");
      assertTrue(server.delete(key, server.get(key).orElseThrow().version()));
    }

    int maxWhileBothAlive = 0;
    for (int i = 0; i < 6; i++) {
      passTime(TICK);
      if (a.health().isAlive()) maxWhileBothAlive = Math.max(maxWhileBothAlive, partitions(b));
    }
    assertEquals(partitionsBefore, maxWhileBothAlive);
    watchIsStuck = false;
    passTime(LEASE.multipliedBy(2));
    assertEquals(PARTITIONS, partitions(b));
  }
}
