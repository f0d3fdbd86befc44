package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A node does not hear of the last heartbeats of another one, whose entry the server then drops:
 * that one may believe in its lease for longer than the first one waits.
 */
class MissedHeartbeatsTest {
  record Where() implements Request<Where, String> {}

  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration TICK = Duration.ofMillis(500);
  private static final int PARTS = 8;

  private final ManualScheduler clock = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("stuck-watch", options -> options.withScheduler(clock));
  private volatile boolean stuck; // what node b hears of the table
  private volatile boolean cut; // node a from the table

  @AfterEach
  void close() {
    scope.close();
  }

  private ClusterTransport faulty(ClusterTransport engine, String node) {
    return Intercepted.of(ClusterTransport.class, engine, (method, arguments, call) -> {
      if (node.equals("b") && method.getName().equals("watch")) {
        @SuppressWarnings("unchecked") var reader = (Consumer<Object>) arguments[1];
        arguments[1] = (Consumer<Object>) news -> {
          if (!stuck) reader.accept(news);
        };
      }
      if (node.equals("a") && cut && method.getName().matches("get|create|update|delete"))
        throw new TransportException(Failure.DISCONNECTED, "a test cut the connection");
      return call.pass();
    });
  }

  private Cluster home(String name) {
    var node = Cluster.join("bank", (app, own) -> faulty(network.connect(app, own), own),
        options -> options.withNode(name).withLease(LEASE).withPartitions(PARTS).withScope(scope)
            .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())));
    node.host("place", Where.class, scope.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
        .newActor((Where where, ActorContext<Where> context) -> context.reply(where, name)));
    return node;
  }

  private void pass(Duration time) {
    for (var left = time; left.isPositive(); left = left.minus(TICK)) {
      clock.advance(TICK);
      assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    }
  }

  private static int parts(Cluster node) {
    return node.health().partitions().get("place");
  }

  @Test
  void nodeTakesNoPartitionWhileOwnerMayHoldItsLease() {
    var a = home("a");
    var b = home("b");
    pass(Duration.ofSeconds(20));
    int before = parts(b);
    assertTrue(before > 0 && before < PARTS, () -> before + " parts");

    stuck = true;
    pass(LEASE.minusSeconds(1));
    cut = true;
    try (var server = network.connect("bank", "server")) {
      String key = new Subjects("bank").keyOfNode("a");
      assertTrue(server.delete(key, server.get(key).orElseThrow().version()));
    }

    int together = 0;
    for (int i = 0; i < 6; i++) {
      pass(TICK);
      if (a.health().isAlive()) together = Math.max(together, parts(b));
    }
    assertEquals(before, together);
    stuck = false;
    pass(LEASE.multipliedBy(2));
    assertEquals(PARTS, parts(b));
  }
}
