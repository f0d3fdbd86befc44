package io.fibry.micrometer;

import io.fibry.TextContextPropagator;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Carries the sender's trace to handlers, with the baggage that the tracing library's propagator
 * knows. The trace also reaches other nodes of a cluster, and is stored with stored messages. Needs
 * {@code micrometer-tracing}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.TracePropagatorTest" region="propagator"}
 *
 * <p>Each message that comes from another process, or from a store, begins a span of the kind
 * {@code CONSUMER}, named {@code receive}. This span is a child of the sender's span, and the
 * parent of the spans that the handler begins. It ends when the actor has the message in its
 * mailbox. A message within one process has no span of its own.
 *
 * <p>In the options of a scope, give this propagator after an {@link ObservationPropagator},
 * because an {@code ObservationPropagator} clears the trace if the sender has no observation.
 */
public final class TracePropagator implements TextContextPropagator<@Nullable CapturedTrace> {
  private final Tracer tracer;
  private final Propagator propagator;

  /**
   * Makes a propagator for the options of a scope.
   *
   * @param tracer knows the current span
   * @param propagator writes a trace as texts, such as {@code traceparent} and {@code tracestate}
   */
  public TracePropagator(Tracer tracer, Propagator propagator) {
    this.tracer = Objects.requireNonNull(tracer, "tracer");
    this.propagator = Objects.requireNonNull(propagator, "propagator");
  }

  @Override
  public @Nullable CapturedTrace capture() {
    var context = tracer.currentTraceContext().context();
    return context == null ? null : new CapturedTrace.LocalTrace(context);
  }

  @Override
  public AutoCloseable restore(@Nullable CapturedTrace captured) {
    return switch (captured) {
      case null -> () -> {}; // not called with null, because null means that nothing was captured
      case CapturedTrace.LocalTrace local -> tracer.currentTraceContext().maybeScope(local.context())::close;
      case CapturedTrace.RemoteTrace remote -> receive(remote.span());
    };
  }

  private AutoCloseable receive(Span.Builder builder) {
    var span = builder.name("receive").kind(Span.Kind.CONSUMER).start();
    var scope = tracer.withSpan(span);
    return () -> {
      scope.close();
      span.end();
    };
  }

  @Override
  public Map<String, String> write(@Nullable CapturedTrace captured) {
    var texts = new HashMap<String, String>();
    if (captured instanceof CapturedTrace.LocalTrace local) propagator.inject(local.context(), texts, Map::put);
    return texts;
  }

  /**
   * Returns the trace in the texts; null if they have no field of the propagator. Without this
   * check the propagator would begin a new trace.
   */
  @Override
  public @Nullable CapturedTrace read(Map<String, String> texts) {
    return propagator.fields().stream().noneMatch(texts::containsKey) ? null
        : new CapturedTrace.RemoteTrace(propagator.extract(texts, Map::get));
  }
}
