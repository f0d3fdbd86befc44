package io.fibry.spring;

import io.fibry.cluster.Cluster;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Reports the health of a node, with the types of Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({Cluster.class, HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(Cluster.class)
@ConditionalOnEnabledHealthIndicator("fibry-cluster")
class Boot3NodeHealth {

  @Bean
  @ConditionalOnMissingBean(name = "fibryClusterHealthIndicator")
  HealthIndicator fibryClusterHealthIndicator(Cluster cluster) {
    return () -> health(NodeHealth.of(cluster));
  }

  private static Health health(NodeHealth health) {
    return Health.status(health.status()).withDetails(health.details()).build();
  }
}
