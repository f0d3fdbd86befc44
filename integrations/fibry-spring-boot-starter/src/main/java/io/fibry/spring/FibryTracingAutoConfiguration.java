package io.fibry.spring;

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
 * Traces go to other nodes of a cluster, and are stored with messages, if there are a tracer and a
 * propagator of Micrometer Tracing. Spring Boot 3.5 makes these by the first two configurations
 * named here, Spring Boot 4 by the others.
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
  TracePropagator fibryTraceCarrier(Tracer tracer, Propagator propagator) {
    return new TracePropagator(tracer, propagator);
  }
}
