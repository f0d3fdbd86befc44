package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.nats.NatsNetwork;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
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
 * A node of a cluster, if there is a network: a bean of the application, or servers of NATS that a
 * property names. It leaves before the scope closes, while its entities can still be given away.
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
      var told = properties.cluster();
      var network = NatsNetwork.connectTo(told.servers()).withReplicas(told.replicas());
      return told.credentials() == null ? network : network.withCredentials(Path.of(told.credentials()));
    }
  }

  /** A child context uses its parent's: a process is one node. */
  @Bean
  @ConditionalOnBean(ClusterNetwork.class)
  @ConditionalOnMissingBean(Cluster.class)
  Cluster cluster(ClusterNetwork network, ActorScope scope, FibryProperties properties) {
    var told = properties.cluster();
    return Cluster.join(told.app() == null ? scope.name() : told.app(), network,
        options -> apply(told, options.withScope(scope)));
  }

  private static Cluster.Options apply(FibryProperties.Cluster told, Cluster.Options options) {
    var changed = options.withPartitions(told.partitions());
    if (told.lease() != null) changed = changed.withLease(told.lease());
    return told.node() == null ? changed : changed.withNode(told.node());
  }

  /** Lets a node of this context leave, even if the application has joined it itself. */
  @Bean
  @ConditionalOnBean(value = Cluster.class, search = SearchStrategy.CURRENT)
  ContextShutdown fibryNodeLeaving(ConfigurableApplicationContext context, Cluster cluster) {
    return new ContextShutdown(context, ContextShutdown.NODES, () -> {
      cluster.close();
      LoggerFactory.getLogger(FibryClusterAutoConfiguration.class).info("{} has left", cluster);
    });
  }

  /** After a failed start the node leaves behind its actors. */
  @Bean
  static FailedStartCleanup fibryClusterCleanup(ConfigurableListableBeanFactory beans) {
    return new FailedStartCleanup(beans, Cluster.class::isInstance);
  }
}
