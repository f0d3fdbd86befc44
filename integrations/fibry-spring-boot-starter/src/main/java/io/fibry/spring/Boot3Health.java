package io.fibry.spring;

import io.fibry.ActorScope;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Reports the health of the application's scope, with the types of Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("fibry")
class Boot3Health {

  @Bean
  @ConditionalOnMissingBean(name = "fibryHealthIndicator")
  HealthIndicator fibryHealthIndicator(ActorScope scope) {
    return () -> health(ScopeHealth.of(scope));
  }

  private static Health health(ScopeHealth health) {
    return Health.status(health.isOpen() ? Status.UP : Status.DOWN).withDetails(health.details()).build();
  }
}
