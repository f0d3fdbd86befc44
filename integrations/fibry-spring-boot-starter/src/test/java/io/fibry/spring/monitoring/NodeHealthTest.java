package io.fibry.spring.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.spring.FibryAutoConfiguration;
import io.fibry.spring.FibryClusterAutoConfiguration;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests the health that Actuator shows for a node. */
class NodeHealthTest {
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER =
      Durable.kind("counter", Count.class).state(0L).handler((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });

  private final ApplicationContextRunner runner = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryClusterAutoConfiguration.class,
          FibryActuatorAutoConfiguration.class))
      .withBean(ClusterNetwork.class, MemoryNetwork::create)
      // a node on a busy machine must not be considered dead
      .withPropertyValues("fibry.cluster.node=n1", "fibry.cluster.partitions=16", "fibry.cluster.lease=1m");

  @Test
  void nodeHealthIsUpUntilNodeCloses() {
    runner.run(context -> {
      var cluster = context.getBean(Cluster.class);
      cluster.host(COUNTER, context.getBean(ActorScope.class).anonymous(), Duration.ofMinutes(5)).actor("c")
          .ask(new Count());
      Patience.eventually(() -> cluster.health().partitions().get("counter") >= 16);
      // the node may count a request as answered after the asker gets the answer
      Patience.eventually(() -> cluster.health().pendingRequests() == 0);

      var whileJoined = NodeHealth.of(cluster);
      cluster.close();
      var afterClose = NodeHealth.of(cluster);

      assertEquals("UP", whileJoined.status());
      assertEquals(
          Map.of("node", "n1", "members", List.of("n1"), "partitions", Map.of("counter", 16), "pendingRequests", 0),
          whileJoined.details());
      assertEquals("OUT_OF_SERVICE", afterClose.status());
      assertEquals("the connection is closed", afterClose.details().get("why"));
      assertTrue(context.containsBean("fibryClusterHealthIndicator"));
    });
    runner.withPropertyValues("management.health.fibry-cluster.enabled=false")
        .run(context -> assertFalse(context.containsBean("fibryClusterHealthIndicator")));
  }
}
