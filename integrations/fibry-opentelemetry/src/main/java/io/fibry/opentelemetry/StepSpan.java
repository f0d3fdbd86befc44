package io.fibry.opentelemetry;

import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepKind;
import io.fibry.ContextPropagator.StepObservation;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The span of a step: an exchange, a message of a client, a durable step, a commit or a piece of
 * work. The span of a commit is not current, because no code of the user runs in it. It may end on
 * a thread of the store, which spans allow.
 */
final class StepSpan implements StepObservation {
  private static final int FIRST_ERROR = 500;

  private final boolean isExchange;
  private final Span span;
  private final Context previous; // the context of the thread before the step
  private final @Nullable Scope scope; // null for a commit

  private StepSpan(HandlerStep step, Context parent, SpanBuilder builder) {
    this.isExchange = step.kind() == StepKind.EXCHANGE;
    this.previous = Context.current();
    this.span = builder.setParent(parent).startSpan();
    this.scope = step.kind() == StepKind.COMMIT ? null : parent.with(span).makeCurrent();
  }

  /** Begins the span of a step, which is a child of the step's sender or of the current span. */
  static StepObservation begin(Tracer tracer, ContextTexts texts, HandlerStep step) {
    var current = Span.current().getSpanContext();
    return switch (step.kind()) {
      case EXCHANGE -> new StepSpan(step, texts.extract(step.senderTexts()), builder(tracer, step, SpanKind.SERVER));
      case QUEUE_WORK -> {
        var builder = builder(tracer, step, SpanKind.CONSUMER).setAllAttributes(SpanNames.HANDLING);
        yield new StepSpan(step, Context.root(), current.isValid() ? builder.addLink(current) : builder);
      }
      case CLIENT_MESSAGE -> {
        // not in the trace of the exchange, because a connection may last for days
        var builder = builder(tracer, step, SpanKind.CONSUMER);
        yield new StepSpan(step, Baggage.current().storeInContext(Context.root()),
            current.isValid() ? builder.addLink(current) : builder);
      }
      case DURABLE_STEP, COMMIT -> current.isValid()
          ? new StepSpan(step, Context.current(), builder(tracer, step, SpanKind.INTERNAL))
          : StepObservation.NONE;
    };
  }

  private static SpanBuilder builder(Tracer tracer, HandlerStep step, SpanKind kind) {
    var builder = tracer.spanBuilder(SpanNames.nameOf(step)).setSpanKind(kind);
    step.attributes().forEach((name, value) -> {
      if (value instanceof Long number) builder.setAttribute(name, number);
      else if (value instanceof String text) builder.setAttribute(name, text);
    });
    return builder;
  }

  @Override
  public void ended(String outcome, Optional<Throwable> failure) {
    try {
      if (isExchange) span.setAttribute("http.response.status_code", Long.parseLong(outcome));
      else span.setAttribute("fibry.outcome", outcome);
      if (failure.isPresent() || isExchange && Integer.parseInt(outcome) >= FIRST_ERROR) {
        span.setStatus(StatusCode.ERROR); // without a text, because the text of a user's exception may throw
        span.setAttribute("error.type", failure.map(it -> it.getClass().getName()).orElse(outcome));
      }
      failure.ifPresent(span::recordException);
    } finally {
      span.end();
    }
  }

  @Override
  public Optional<String> traceId() {
    var context = span.getSpanContext();
    return context.isValid() ? Optional.of(context.getTraceId()) : Optional.empty();
  }

  /** Restores the previous context, even if the handler has left a context of its own. */
  @Override
  public void close() {
    if (scope == null) return;
    scope.close();
    if (Context.current() != previous) previous.makeCurrent();
  }
}
