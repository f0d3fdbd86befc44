package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.cluster.TransportException;
import io.fibry.durable.Durable;
import io.fibry.nats.NatsNetwork;
import io.fibry.pool.Entities;
import io.fibry.spring.monitoring.FibryActuatorAutoConfiguration;
import io.fibry.spring.monitoring.FibryMetricsAutoConfiguration;
import io.fibry.support.Patience;
import io.fibry.test.NatsServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;

/** Tests the cluster node of an application, from its creation until the application ends. */
class NodeTest {
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER =
      Durable.kind("counter", Count.class).state(0L).handler((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });

  private final ClusterNetwork network = MemoryNetwork.create();
  private final ApplicationContextRunner base = new ApplicationContextRunner().withConfiguration(
      AutoConfigurations.of(FibryAutoConfiguration.class, FibryStoreAutoConfiguration.class,
          FibryClusterAutoConfiguration.class, FibryActuatorAutoConfiguration.class,
          FibryMetricsAutoConfiguration.class,
          Boot.metrics()))
      // a node on a busy machine must not be considered dead
      .withPropertyValues("fibry.name=shop", "fibry.cluster.partitions=16", "fibry.cluster.lease=1m");
  private final ApplicationContextRunner runner =
      base.withBean(ClusterNetwork.class, () -> network).withPropertyValues("fibry.cluster.node=n1");

  @Configuration(proxyBeanMethods = false)
  static class Counters {
    @Bean
    Entities<String, Count> counters(Cluster cluster, ActorScope scope) {
      return cluster.host(COUNTER, scope.anonymous(), Duration.ofMinutes(5));
    }
  }

  record Client(Entities<String, Count> counters) {}

  private Cluster joinOtherNode() {
    return Cluster.join("shop", network,
        options -> options.withNode("other").withPartitions(16).withLease(Duration.ofMinutes(1)));
  }

  @Test
  void networkBeanCreatesNode() {
    try (var otherNode = joinOtherNode()) {
      runner.withUserConfiguration(Counters.class).withBean(Client.class).run(context -> {
        assertEquals(1, context.getBean(Client.class).counters().actor("c").ask(new Count()));
        assertEquals("n1", context.getBean(Cluster.class).self().name());
        assertEquals(2, otherNode.entities(COUNTER).actor("c").ask(new Count()));
        assertEquals(Set.of("counter"), otherNode.members().getFirst().hosts());
      });

      // the closed node must have left by itself, because its lease expires only after a minute
      Patience.eventually(() -> otherNode.members().size() == 1);
      assertEquals(List.of(otherNode.self()), otherNode.members());
    }
  }

  @Test
  void propertySetsAskLimitOfEntities() {
    runner.withPropertyValues("fibry.ask-limit=1s").run(context -> {
      var counters = context.getBean(Cluster.class).host("silent", Count.class,
          context.getBean(ActorScope.class).anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
              .newActor((Count count, ActorContext<Count> self) -> self.replyWhen(count, new CompletableFuture<>())));

      var timeout = assertThrows(AskTimeoutException.class, () -> counters.actor("c").ask(new Count()));

      assertTrue(timeout.limit().compareTo(Duration.ofSeconds(1)) <= 0, timeout.getMessage());
    });
  }

  @Test
  void entitiesMoveToOtherNodeWhenContextCloses() {
    try (var otherNode = joinOtherNode()) {
      runner.withUserConfiguration(Counters.class).withBean(Client.class).run(context -> {
        for (int i = 0; i < 50; i++) context.getBean(Client.class).counters().actor("c" + i).ask(new Count());
        otherNode.host(COUNTER, ActorSystem.anonymous(), Duration.ofMinutes(5));
      });

      for (int i = 0; i < 50; i++) assertEquals(2, otherNode.entities(COUNTER).actor("c" + i).ask(new Count()));
    }
  }

  @Test
  void noNodeExistsWithoutNetwork() {
    base.run(context -> {
      assertNull(context.getStartupFailure());
      assertTrue(context.getBeansOfType(Cluster.class).isEmpty());
      assertFalse(context.containsBean("fibryClusterHealthIndicator"));
    });
  }

  @Test
  void disabledStarterCreatesNoNode() {
    runner.withPropertyValues("fibry.enabled=false")
        .run(context -> assertTrue(context.getBeansOfType(Cluster.class).isEmpty()));
  }

  @Test
  void ownNodeBeanReplacesDefaultNode() {
    runner.withBean("ours", Cluster.class, this::joinOtherNode).run(context -> {
      assertEquals("other", context.getBean(Cluster.class).self().name());
      assertTrue(context.containsBean("fibryNodeLeaving"));
    });
  }

  @Test
  void childContextUsesNodeOfParent() {
    runner.run(parent -> runner.withParent(parent).run(child -> {
      assertNull(child.getStartupFailure());
      assertSame(parent.getBean(Cluster.class), child.getBean(Cluster.class));
      assertFalse(child.getBeanFactory().containsLocalBean("fibryNodeLeaving"));
    }));
  }

  @Test
  void invalidPropertiesFailStart() {
    assertStartFails("fibry.cluster.app=Shop",
        "'Shop' cannot name an app: take 1 to 64 lower-case letters, digits and hyphens, "
            + "a letter first");
    assertStartFails("fibry.cluster.lease=1s",
        "a lease of 1000 ms; give 3 seconds or more, because the node sends five heartbeats in this time");
    assertStartFails("fibry.cluster.partitions=0",
        "0 partitions; take 1 to 4096, several for each node that there may ever be");
  }

  private void assertStartFails(String property, String expected) {
    runner.withPropertyValues(property)
        .run(context -> assertEquals(expected, rootCause(context.getStartupFailure()).getMessage()));
  }

  private static Throwable rootCause(Throwable failure) {
    return failure.getCause() == null ? failure : rootCause(failure.getCause());
  }

  @Configuration(proxyBeanMethods = false)
  static class FailedStart {
    @Bean
    @DependsOn("counters")
    String broken() {
      throw new IllegalStateException("on purpose");
    }
  }

  @Test
  void nodeNameIsFreeAfterFailedStart() {
    // longer than a test may run, so the second start cannot wait until the lease expires
    var runner = this.runner.withPropertyValues("fibry.cluster.lease=1h");
    runner.withUserConfiguration(Counters.class, FailedStart.class)
        .run(context -> assertEquals("on purpose", rootCause(context.getStartupFailure()).getMessage()));

    runner.run(context -> {
      assertNull(context.getStartupFailure());
      assertEquals("n1", context.getBean(Cluster.class).self().name());
    });
  }

  // ---- NATS

  @Test
  void serversPropertyCreatesNetwork() {
    base.withPropertyValues("fibry.cluster.servers=nats://127.0.0.1:1,nats://127.0.0.1:2", "fibry.cluster.replicas=3")
        .withBean("ours", Cluster.class, this::joinOtherNode).run(context -> assertEquals(
            "NATS at nats://127.0.0.1:1,nats://127.0.0.1:2", context.getBean(NatsNetwork.class).toString()));
  }

  @Test
  void startFailsWhenNoServerIsReachable() {
    base.withPropertyValues("fibry.cluster.servers=nats://127.0.0.1:1").run(context -> assertEquals(
        TransportException.class, rootCause(context.getStartupFailure()).getClass()));
  }

  @Test
  void nodeJoinsThroughServer(@TempDir Path folder) {
    boolean isInstalled = NatsServer.find().isPresent();
    if (!isInstalled && "required".equals(System.getProperty("fibry.nats"))) throw new AssertionError("no nats-server");
    assumeTrue(isInstalled, "no nats-server; CONTRIBUTING.md says how to get one");
    try (var server = NatsServer.start(folder)) {
      base.withPropertyValues("fibry.cluster.servers=" + server.url(), "fibry.cluster.node=n1")
          .withUserConfiguration(Counters.class).withBean(Client.class).run(context -> {
            assertEquals(1, context.getBean(Client.class).counters().actor("c").ask(new Count()));
            var cluster = context.getBean(Cluster.class);
            assertTrue(isUp(cluster.health()));

            server.kill();

            Patience.eventually(() -> !isUp(cluster.health()));
            var problem = cluster.health().connectionProblem().orElseThrow();
            assertTrue(problem.startsWith("the connection to NATS is "), problem);
            server.restart();
            Patience.eventually(() -> isUp(cluster.health()));
          });
    }
  }

  private static boolean isUp(Cluster.Health health) {
    return health.isAlive() && health.connectionProblem().isEmpty();
  }

  // ---- metrics

  @Test
  void registryHasMetersOfNode() {
    runner.withBean(SimpleMeterRegistry.class, SimpleMeterRegistry::new).run(context -> assertEquals(1,
        context.getBean(MeterRegistry.class).get("fibry.node.alive").tags("app", "shop", "node", "n1").gauge()
            .value()));
  }
}
