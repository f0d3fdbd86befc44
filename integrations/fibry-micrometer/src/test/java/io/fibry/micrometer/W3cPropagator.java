package io.fibry.micrometer;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import java.util.List;

/** A propagator like the propagators of Brave and OpenTelemetry, with the field traceparent. */
record W3cPropagator(Tracer tracer) implements Propagator {
  private static final String PARENT = "traceparent";

  @Override
  public List<String> fields() {
    return List.of(PARENT);
  }

  @Override
  public <C> void inject(TraceContext context, C carrier, Setter<C> setter) {
    setter.set(carrier, PARENT, "00-" + context.traceId() + "-" + context.spanId() + "-01");
  }

  @Override
  public <C> Span.Builder extract(C carrier, Getter<C> getter) {
    var parts = getter.get(carrier, PARENT).split("-");
    return tracer.spanBuilder().setParent(
        tracer.traceContextBuilder().traceId(parts[1]).spanId(parts[2]).sampled(true).build());
  }
}
