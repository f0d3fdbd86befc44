package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.cluster.Cluster;
import io.fibry.micrometer.NodeMeters;
import io.fibry.micrometer.RouteMeters;
import io.fibry.micrometer.ScopeMeters;
import io.fibry.micrometer.StoreMeters;
import io.fibry.net.HttpServer;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Meters for Micrometer: outcomes, waiting messages, times, routes, stores, a node. */
@AutoConfiguration(after = {FibryAutoConfiguration.class, FibryStoreAutoConfiguration.class,
  FibryClusterAutoConfiguration.class},
    afterName = {"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"})
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ActorScope.class, MeterRegistry.class})
public final class FibryMetricsAutoConfiguration {
  FibryMetricsAutoConfiguration() {}

  @Bean
  MeterBinder fibryScopeMetrics(ActorScope scope, ObjectProvider<FiberPool> pools) {
    var scopes = FiberPool.scopes(scope, pools);
    return registry -> scopes.forEach(each -> new ScopeMeters(each).bindTo(registry));
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "fibry.metrics.timers", matchIfMissing = true)
  ScopeTimers fibryScopeTimers() {
    return new ScopeTimers();
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

  /** Each server has the name of its bean. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBean(HttpServer.class)
  static class Servers {

    @Bean
    MeterBinder fibryRouteMetrics(Map<String, HttpServer> servers) {
      return registry -> servers.forEach((name, one) -> new RouteMeters(name, one).bindTo(registry));
    }
  }

  /** Each store in a folder has the name of its bean. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(FolderStore.class)
  @ConditionalOnBean(Store.class)
  static class Stores {

    @Bean
    MeterBinder fibryStoreMetrics(Map<String, Store> stores) {
      return registry -> stores.forEach((name, one) -> {
        if (one instanceof FolderStore store) new StoreMeters(name, store).bindTo(registry);
      });
    }
  }
}
