package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.micrometer.TracePropagator;
import io.fibry.pool.Entities;
import io.fibry.spring.monitoring.FibryContextAutoConfiguration;
import io.fibry.spring.monitoring.FibryTracingAutoConfiguration;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Tests that a trace of one application continues on the node of another application. */
class TracingTest {
  record Who() implements Request<Who, String> {}

  /** A propagator of the W3C header, like the propagators of tracing bridges. */
  private record TraceParent(Tracer tracer) implements Propagator {
    @Override
    public List<String> fields() {
      return List.of("traceparent");
    }

    @Override
    public <C> void inject(TraceContext context, C carrier, Setter<C> setter) {
      setter.set(carrier, "traceparent", "00-" + context.traceId() + "-" + context.spanId() + "-01");
    }

    @Override
    public <C> Span.Builder extract(C carrier, Getter<C> getter) {
      var parts = getter.get(carrier, "traceparent").split("-");
      return tracer.spanBuilder().setParent(
          tracer.traceContextBuilder().traceId(parts[1]).spanId(parts[2]).sampled(true).build());
    }
  }

  private final ClusterNetwork network = MemoryNetwork.create();
  private final ApplicationContextRunner untraced = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryContextAutoConfiguration.class,
          FibryTracingAutoConfiguration.class, FibryClusterAutoConfiguration.class))
      .withBean(ClusterNetwork.class, () -> network)
      .withPropertyValues("fibry.name=shop", "fibry.cluster.partitions=4", "fibry.cluster.lease=1m");

  /** Returns a runner with its own tracer and registry, as if it ran in another process. */
  private ApplicationContextRunner runner(String node) {
    var tracer = new SimpleTracer();
    var registry = ObservationRegistry.create();
    registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
    return untraced.withPropertyValues("fibry.cluster.node=" + node).withBean(SimpleTracer.class, () -> tracer)
        .withBean(Propagator.class, () -> new TraceParent(tracer))
        .withBean(ObservationRegistry.class, () -> registry);
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnerBeans {
    @Bean
    Entities<String, Who> entities(Cluster cluster, ActorScope scope, SimpleTracer tracer,
        ObservationRegistry registry) {
      Supplier<String> trace = () -> tracer.currentSpan().context().traceId();
      Durable<Who> traces = Durable.kind("traces", Who.class).state(0).handler((n, entity, context) -> {
        context.reply(entity, Observation.createNotStarted("handled", registry).observe(trace));
        return n;
      });
      return cluster.host(traces, scope.anonymous(), Duration.ofMinutes(5));
    }
  }

  @Test
  void spanOnOwnerNodeOfEntityHasTraceOfAsker() {
    runner("owner").withUserConfiguration(OwnerBeans.class).run(owner -> runner("asker").run(asker -> {
      assertNull(owner.getStartupFailure());
      assertNull(asker.getStartupFailure());
      var entity = asker.getBean(Cluster.class).entities("traces", Who.class).actor("k");
      var tracer = asker.getBean(SimpleTracer.class);

      Observation.createNotStarted("request", asker.getBean(ObservationRegistry.class))
          .observe(() -> assertEquals(tracer.currentSpan().context().traceId(), entity.ask(new Who())));
    }));
  }

  @Test
  void tracePropagatorIsLastOfTwoPropagators() {
    runner("n1").run(context -> {
      var propagators = context.getBean(ScopeOptions.class).propagators();
      assertEquals(2, propagators.size());
      assertEquals(TracePropagator.class, propagators.getLast().getClass());
    });
  }

  @Test
  void noTracePropagatorExistsWithoutTracer() {
    untraced.run(context -> assertEquals(1, context.getBeanNamesForType(ContextPropagator.class).length));
    runner("n1").withPropertyValues("fibry.propagate-context=false")
        .run(context -> assertEquals(0, context.getBeanNamesForType(ContextPropagator.class).length));
    untraced.withClassLoader(new FilteredClassLoader(Tracer.class, Propagator.class)).run(context -> {
      assertNull(context.getStartupFailure());
      assertEquals(1, context.getBeanNamesForType(ContextPropagator.class).length);
    });
  }
}
