package io.fibry.spring.monitoring;

import io.fibry.ActorScope;
import io.fibry.cluster.Cluster;
import io.fibry.micrometer.ActorMeters;
import io.fibry.micrometer.NodeMeters;
import io.fibry.micrometer.RouteMeters;
import io.fibry.micrometer.SchedulerMeters;
import io.fibry.micrometer.ScopeMeters;
import io.fibry.micrometer.StoreMeters;
import io.fibry.net.HttpServer;
import io.fibry.spring.FiberPool;
import io.fibry.spring.FibryAutoConfiguration;
import io.fibry.spring.FibryClusterAutoConfiguration;
import io.fibry.spring.FibryStoreAutoConfiguration;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Registers Micrometer meters of scopes, actors, message times, HTTP routes, the scheduler
 * of virtual threads, stores and the node.
 */
@AutoConfiguration(after = {FibryAutoConfiguration.class, FibryStoreAutoConfiguration.class,
  FibryClusterAutoConfiguration.class},
    afterName = {"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"})
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ActorScope.class, MeterRegistry.class})
public final class FibryMetricsAutoConfiguration {
  private static final String OTHER_ACTORS = "*";

  FibryMetricsAutoConfiguration() {}

  @Bean
  MeterBinder fibryScopeMetrics(ActorScope scope, ObjectProvider<FiberPool> pools) {
    var scopes = FiberPool.scopes(scope, pools);
    return registry -> scopes.forEach(meteredScope -> new ScopeMeters(meteredScope).bindTo(registry));
  }

  @Bean
  MeterBinder fibrySchedulerMetrics() {
    return registry -> new SchedulerMeters().bindTo(registry);
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "fibry.metrics.timers", matchIfMissing = true)
  ScopeTimers fibryScopeTimers(Environment environment) {
    return new ScopeTimers(meteredActors(environment));
  }

  /**
   * Registers meters of all actors, because the alerts on actors read them. Makes the meters when
   * the context starts, which then fails if names are useless.
   */
  @Bean
  @ConditionalOnMissingBean(ActorMeters.class)
  @ConditionalOnBooleanProperty(name = "fibry.metrics.actor-meters", matchIfMissing = true)
  MeterBinder fibryActorMetrics(ActorScope scope, Environment environment) {
    var actors = new ArrayList<>(meteredActors(environment));
    if (!actors.contains(OTHER_ACTORS)) actors.add(OTHER_ACTORS);
    return new ActorMeters(scope, actors, Tags.empty())::bindTo;
  }

  private static List<String> meteredActors(Environment environment) {
    return Binder.get(environment).bind("fibry.metrics.actors", Bindable.listOf(String.class)).orElse(List.of());
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(Cluster.class)
  @ConditionalOnBean(Cluster.class)
  static class Nodes {

    @Bean
    MeterBinder fibryNodeMetrics(Cluster cluster) {
      return registry -> new NodeMeters(cluster).bindTo(registry);
    }
  }

  /** Registers the meters of each HTTP server. The tag {@code server} is the name of its bean. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBean(HttpServer.class)
  static class Servers {

    @Bean
    MeterBinder fibryRouteMetrics(Map<String, HttpServer> servers) {
      return registry -> servers.forEach((name, server) -> new RouteMeters(name, server).bindTo(registry));
    }
  }

  /** Registers the meters of each folder store. The tag {@code store} is the name of its bean. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(FolderStore.class)
  @ConditionalOnBean(Store.class)
  static class Stores {

    @Bean
    MeterBinder fibryStoreMetrics(Map<String, Store> stores) {
      return registry -> stores.forEach((name, store) -> {
        if (store instanceof FolderStore folderStore) new StoreMeters(name, folderStore).bindTo(registry);
      });
    }
  }
}
