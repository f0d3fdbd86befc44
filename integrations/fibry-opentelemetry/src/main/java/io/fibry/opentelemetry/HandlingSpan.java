package io.fibry.opentelemetry;

import io.fibry.ContextPropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import java.util.Objects;

/** The span of a message's handling, which is current until the handler has returned. */
record HandlingSpan(Span span, Scope scope) implements ContextPropagator.Handling {

  @Override
  public void failed(Throwable failure) {
    span.setStatus(StatusCode.ERROR, Objects.requireNonNullElse(failure.getMessage(), ""));
    span.setAttribute("error.type", failure.getClass().getName());
    span.recordException(failure);
  }

  @Override
  public void close() {
    try {
      scope.close();
    } finally {
      span.end();
    }
  }
}
