package io.fibry.micrometer;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;

/** What a {@link TracePropagator} has captured or read. */
sealed interface CapturedTrace {

  /** The trace of a sender in this process. */
  record LocalTrace(TraceContext context) implements CapturedTrace {}

  /** The trace of a sender in another process; for one use. */
  record RemoteTrace(Span.Builder span) implements CapturedTrace {}
}
