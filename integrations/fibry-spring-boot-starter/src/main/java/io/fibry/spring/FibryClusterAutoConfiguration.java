package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.nats.NatsNetwork;
import io.fibry.text.SafeLogger;
import java.nio.file.Path;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Makes this process a node of a cluster, if a network is available: a bean of the application, or
 * the NATS servers of {@code fibry.cluster.servers}. The node normally leaves before the scope
 * closes, while its entities can still move to other nodes.
 */
@AutoConfiguration(after = FibryAutoConfiguration.class)
@ConditionalOnClass(Cluster.class)
@ConditionalOnBean(ScopeOptions.class)
public final class FibryClusterAutoConfiguration {
  FibryClusterAutoConfiguration() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(NatsNetwork.class)
  static class Nats {

    @Bean
    @ConditionalOnProperty("fibry.cluster.servers")
    @ConditionalOnMissingBean(ClusterNetwork.class)
    NatsNetwork natsNetwork(FibryProperties properties) {
      var settings = properties.cluster();
      var network = NatsNetwork.connectTo(settings.servers()).withReplicas(settings.replicas());
      return settings.credentials() == null ? network : network.withCredentials(Path.of(settings.credentials()));
    }
  }

  /** A child context uses its parent's node, because a process is a single node. */
  @Bean
  @ConditionalOnBean(ClusterNetwork.class)
  @ConditionalOnMissingBean(Cluster.class)
  Cluster cluster(ClusterNetwork network, ActorScope scope, FibryProperties properties) {
    var settings = properties.cluster();
    return Cluster.join(settings.app() == null ? scope.name() : settings.app(), network,
        options -> apply(settings, options.withScope(scope)));
  }

  private static Cluster.Options apply(FibryProperties.Cluster settings, Cluster.Options options) {
    var result = options.withPartitions(settings.partitions());
    if (settings.lease() != null) result = result.withLease(settings.lease());
    return settings.node() == null ? result : result.withNode(settings.node());
  }

  /** Makes the node leave before the scope closes, even if the application made the node. */
  @Bean
  @ConditionalOnBean(value = Cluster.class, search = SearchStrategy.CURRENT)
  ContextShutdown fibryNodeLeaving(ConfigurableApplicationContext context, Cluster cluster) {
    return new ContextShutdown(context, ContextShutdown.NODES, () -> {
      cluster.close();
      SafeLogger.of(FibryClusterAutoConfiguration.class).info("{} has left", cluster);
    });
  }

  /**
   * If the start of the context fails, closes the scope before the node leaves, within the limit of
   * the scope. Otherwise Spring would destroy the node first, and could wait for a handler forever.
   */
  @Bean
  static FailedStartCleanup fibryClusterCleanup(DefaultListableBeanFactory beans) {
    return new FailedStartCleanup(beans, Cluster.class::isInstance);
  }
}
