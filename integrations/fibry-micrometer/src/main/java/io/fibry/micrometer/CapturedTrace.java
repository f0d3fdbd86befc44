package io.fibry.micrometer;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;

/** A trace that a {@link TracePropagator} has captured, or has read from texts. */
sealed interface CapturedTrace {

  /** The trace of a sender in this process. */
  record LocalTrace(TraceContext context) implements CapturedTrace {}

  /** A span to begin, as a child of a span in another process or in a store. For one use. */
  record RemoteTrace(Span.Builder span) implements CapturedTrace {}
}
