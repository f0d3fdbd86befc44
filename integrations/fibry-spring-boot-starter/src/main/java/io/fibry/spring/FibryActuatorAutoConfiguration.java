package io.fibry.spring;

import io.fibry.ActorScope;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Actuator's health {@code fibry} and endpoint {@code actors}. */
@AutoConfiguration(
    after = {FibryAutoConfiguration.class, FibryTasksAutoConfiguration.class, FibryTomcatAutoConfiguration.class})
@ConditionalOnBean(ActorScope.class)
public final class FibryActuatorAutoConfiguration {
  FibryActuatorAutoConfiguration() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  @ConditionalOnEnabledHealthIndicator("fibry")
  static class Health {

    @Bean
    @ConditionalOnMissingBean(name = "fibryHealthIndicator")
    ScopeHealth fibryHealthIndicator(ActorScope scope) {
      return new ScopeHealth(scope);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
  @ConditionalOnAvailableEndpoint(ActorsEndpoint.class)
  static class Endpoint {

    @Bean
    @ConditionalOnMissingBean
    ActorsEndpoint fibryActorsEndpoint(ActorScope scope, ObjectProvider<FiberPool> pools) {
      return new ActorsEndpoint(FiberPool.scopes(scope, pools));
    }
  }
}
