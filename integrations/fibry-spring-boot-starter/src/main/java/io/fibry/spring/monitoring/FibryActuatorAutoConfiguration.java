package io.fibry.spring.monitoring;

import io.fibry.ActorScope;
import io.fibry.spring.FiberPool;
import io.fibry.spring.FibryAutoConfiguration;
import io.fibry.spring.FibryClusterAutoConfiguration;
import io.fibry.spring.FibryStoreAutoConfiguration;
import io.fibry.spring.FibryTasksAutoConfiguration;
import io.fibry.spring.FibryTomcatAutoConfiguration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Adds to Actuator the health of scope, stores and node, and the endpoint {@code actors}. */
@AutoConfiguration(after = {FibryAutoConfiguration.class, FibryStoreAutoConfiguration.class,
  FibryClusterAutoConfiguration.class, FibryTasksAutoConfiguration.class, FibryTomcatAutoConfiguration.class})
@ConditionalOnBean(ActorScope.class)
@Import({Boot3Health.class, Boot4Health.class})
public final class FibryActuatorAutoConfiguration {
  FibryActuatorAutoConfiguration() {}

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
