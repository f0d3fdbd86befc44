package io.fibry.spring.monitoring;

import io.fibry.micrometer.TracePropagator;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Sends traces to other nodes of a cluster, and stores them with messages, if a tracer and a
 * propagator of Micrometer Tracing are available. In Spring Boot 3.5, the first two configurations
 * named here make these beans; in Spring Boot 4, the last two.
 */
@AutoConfiguration(afterName = {"org.springframework.boot.actuate.autoconfigure.tracing.BraveAutoConfiguration",
  "org.springframework.boot.actuate.autoconfigure.tracing.OpenTelemetryTracingAutoConfiguration",
  "org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration",
  "org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration"})
@ConditionalOnClass({Tracer.class, Propagator.class})
@ConditionalOnBean({Tracer.class, Propagator.class})
@ConditionalOnBooleanProperty(name = "fibry.propagate-context", matchIfMissing = true)
public final class FibryTracingAutoConfiguration {
  FibryTracingAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  TracePropagator fibryTracePropagator(Tracer tracer, Propagator propagator) {
    return new TracePropagator(tracer, propagator);
  }
}
