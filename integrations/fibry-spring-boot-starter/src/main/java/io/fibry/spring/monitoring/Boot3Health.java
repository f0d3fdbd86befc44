package io.fibry.spring.monitoring;

import io.fibry.ActorScope;
import io.fibry.cluster.Cluster;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Reports the health of scope, stores and node, with the types of Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
class Boot3Health {

  private static Health health(HealthReport report) {
    return Health.status(report.status()).withDetails(report.details()).build();
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnEnabledHealthIndicator("fibry")
  static class Boot3Scopes {

    @Bean
    @ConditionalOnMissingBean(name = "fibryHealthIndicator")
    HealthIndicator fibryHealthIndicator(ActorScope scope) {
      return () -> health(ScopeHealth.of(scope));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(FolderStore.class)
  @ConditionalOnBean(Store.class)
  @ConditionalOnEnabledHealthIndicator("fibry-store")
  static class Boot3Stores {

    @Bean
    @ConditionalOnMissingBean(name = "fibryStoreHealthIndicator")
    HealthIndicator fibryStoreHealthIndicator(Map<String, Store> stores) {
      return () -> health(StoreHealth.of(stores));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(Cluster.class)
  @ConditionalOnBean(Cluster.class)
  @ConditionalOnEnabledHealthIndicator("fibry-cluster")
  static class Boot3Nodes {

    @Bean
    @ConditionalOnMissingBean(name = "fibryClusterHealthIndicator")
    HealthIndicator fibryClusterHealthIndicator(Cluster cluster) {
      return () -> health(NodeHealth.of(cluster));
    }
  }
}
