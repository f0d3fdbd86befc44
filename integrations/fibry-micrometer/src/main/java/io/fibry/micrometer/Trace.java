package io.fibry.micrometer;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;

/** What a {@link TracePropagator} has captured or read. */
sealed interface Trace {

  /** The trace of a sender in this process. */
  record Here(TraceContext context) implements Trace {}

  /** The trace of a sender in another process; for one use. */
  record Remote(Span.Builder span) implements Trace {}
}
