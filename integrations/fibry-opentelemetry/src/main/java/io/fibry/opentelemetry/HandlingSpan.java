package io.fibry.opentelemetry;

import io.fibry.ContextPropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;

/** The span of a message's handling, which is current until the handler has returned. */
record HandlingSpan(Span span, Scope scope) implements ContextPropagator.Handling {

  @Override
  public void failed(Throwable failure) {
    span.setStatus(StatusCode.ERROR); // without a text, because the text of a user's exception may throw
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
