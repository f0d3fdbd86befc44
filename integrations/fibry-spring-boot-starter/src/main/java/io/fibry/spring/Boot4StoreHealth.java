package io.fibry.spring;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.util.Map;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Reports the health of stores, with the types of Spring Boot 4. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({FolderStore.class, HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(Store.class)
@ConditionalOnEnabledHealthIndicator("fibry-store")
class Boot4StoreHealth {

  @Bean
  @ConditionalOnMissingBean(name = "fibryStoreHealthIndicator")
  HealthIndicator fibryStoreHealthIndicator(Map<String, Store> stores) {
    return () -> health(StoreHealth.check(stores));
  }

  private static Health health(StoreHealth health) {
    return Health.status(health.status()).withDetails(health.details()).build();
  }
}
