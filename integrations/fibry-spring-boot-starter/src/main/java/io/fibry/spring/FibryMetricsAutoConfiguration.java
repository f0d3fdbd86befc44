package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.micrometer.FibryMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Meters for Micrometer: outcomes, waiting messages, times. */
@AutoConfiguration(after = FibryAutoConfiguration.class,
    afterName = {"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"})
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ActorScope.class, MeterRegistry.class})
public final class FibryMetricsAutoConfiguration {
  FibryMetricsAutoConfiguration() {}

  @Bean
  MeterBinder fibryScopeMetrics(ActorScope scope, ObjectProvider<FiberPool> pools) {
    var scopes = FiberPool.scopes(scope, pools);
    return registry -> scopes.forEach(each -> new FibryMetrics(each).bindTo(registry));
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "fibry.metrics.timers", matchIfMissing = true)
  ScopeTimers fibryScopeTimers() {
    return new ScopeTimers();
  }
}
