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
 * Carries the trace of the sender, with the baggage that the propagator knows, also to other nodes
 * of a cluster, and with messages that wait at a store. It needs {@code micrometer-tracing}.
 * Thread-safe.
 * {@snippet class="io.fibry.micrometer.TraceCarrierTest" region="carrier"}
 *
 * <p>Each message that comes from another process, or from a store, begins a span of the kind
 * {@code CONSUMER}, named {@code receive}. It is a child of the sender's span, and the parent of
 * the spans that the handler begins. It ends when the actor has the message in its mailbox. A
 * message inside of the process has no span of its own.
 *
 * <p>Give it after a {@link ObservationPropagator}, which clears the trace where there is no
 * observation.
 */
public final class TracePropagator implements TextContextPropagator<@Nullable CapturedTrace> {
  private final Tracer tracer;
  private final Propagator propagator;

  /**
   * For the options of a scope.
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
      case null -> () -> {}; // never: no capture, no set
      case CapturedTrace.LocalTrace here -> tracer.currentTraceContext().maybeScope(here.context())::close;
      case CapturedTrace.RemoteTrace remote -> receive(remote.span());
    };
  }

  private AutoCloseable receive(Span.Builder sent) {
    var span = sent.name("receive").kind(Span.Kind.CONSUMER).start();
    var scope = tracer.withSpan(span);
    return () -> {
      scope.close();
      span.end();
    };
  }

  @Override
  public Map<String, String> write(@Nullable CapturedTrace captured) {
    var texts = new HashMap<String, String>();
    if (captured instanceof CapturedTrace.LocalTrace here) propagator.inject(here.context(), texts, Map::put);
    return texts;
  }

  /** Without a field of the propagator there is no trace: it would begin a new one. */
  @Override
  public @Nullable CapturedTrace read(Map<String, String> texts) {
    return propagator.fields().stream().noneMatch(texts::containsKey) ? null
        : new CapturedTrace.RemoteTrace(propagator.extract(texts, Map::get));
  }
}
