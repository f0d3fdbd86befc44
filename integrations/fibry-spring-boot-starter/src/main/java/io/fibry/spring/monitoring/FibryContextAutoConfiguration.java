package io.fibry.spring.monitoring;

import io.fibry.micrometer.ObservationPropagator;
import io.micrometer.context.ContextSnapshotFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Adds to messages the context that the library context-propagation captures, such as the
 * observation with its trace.
 */
@AutoConfiguration
@ConditionalOnClass(ContextSnapshotFactory.class)
@ConditionalOnBooleanProperty(name = "fibry.propagate-context", matchIfMissing = true)
public final class FibryContextAutoConfiguration {
  FibryContextAutoConfiguration() {}

  /** Runs before other propagators, because it clears the trace if there is no observation. */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  ObservationPropagator fibryContextPropagator() {
    return new ObservationPropagator();
  }
}
