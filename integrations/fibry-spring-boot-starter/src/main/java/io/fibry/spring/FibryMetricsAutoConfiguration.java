package io.fibry.spring;

import io.fibry.ActorScope;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Meters for Micrometer: outcomes, waiting messages, times. */
@AutoConfiguration(after = {FibryAutoConfiguration.class, MetricsAutoConfiguration.class,
  CompositeMeterRegistryAutoConfiguration.class})
@ConditionalOnClass({MeterRegistry.class, MetricsAutoConfiguration.class})
@ConditionalOnBean({ActorScope.class, MeterRegistry.class})
public final class FibryMetricsAutoConfiguration {
  FibryMetricsAutoConfiguration() {}

  @Bean
  ScopeMeters fibryScopeMeters(ActorScope scope, ObjectProvider<FiberPool> pools) {
    return new ScopeMeters(FiberPool.scopes(scope, pools));
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "fibry.metrics.timers", matchIfMissing = true)
  MessageTimers fibryMessageTimers() {
    return new MessageTimers();
  }
}
