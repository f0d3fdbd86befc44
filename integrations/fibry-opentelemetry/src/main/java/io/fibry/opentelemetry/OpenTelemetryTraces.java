package io.fibry.opentelemetry;

import io.fibry.Actor;
import io.fibry.TextContextPropagator;
import io.fibry.text.Durations;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Carries the sender's trace and baggage to handlers, also on other nodes of a cluster and through
 * the store of durable actors. Give this context propagator to the options of a scope. Thread-safe.
 * {@snippet class="io.fibry.opentelemetry.Shop" region="shop"}
 *
 * <p>The handling of a message from another node or from a store is a span of the kind
 * {@code CONSUMER}, a child of the sender's span. A message within the process is handled in the
 * sender's span, and begins a span of the kind {@code INTERNAL} only if
 * {@link Options#withLocalSpans} names its actor. A span lasts until the handler has returned. If
 * the handler throws, the span has the status {@code ERROR} and the exception. Each redelivery is a
 * span of its own. A message whose sender has no trace begins no span.
 *
 * <p>Spans are named {@code handle} and the actor's name up to the first {@code /}: the spans of
 * all entities {@code account/..} have one name. The names of anonymous actors are only in the
 * attribute {@code messaging.destination.name}.
 *
 * <p>Each exchange of an HTTP server is a span of the kind {@code SERVER}, a child of the span in
 * the headers of its request. Each message of a WebSocket, and each line or frame of a TCP
 * connection, begins a trace of its own, with a span of the kind {@code CONSUMER}. So does each
 * attempt at the work of a queue. In a trace, each step and each commit of a durable actor is a
 * span of the kind {@code INTERNAL}.
 */
public final class OpenTelemetryTraces implements TextContextPropagator<@Nullable Context> {
  private final Tracer tracer;
  private final ContextTexts texts;
  private final Options options;

  /** The options of traces. Immutable. */
  public static final class Options {
    private final Predicate<? super Actor<?>> localSpans;
    private final Duration maxTraceAge;
    private final Predicate<? super HandlerStep> steps;

    private Options(Predicate<? super Actor<?>> localSpans, Duration maxTraceAge,
        Predicate<? super HandlerStep> steps) {
      this.localSpans = localSpans;
      this.maxTraceAge = maxTraceAge;
      this.steps = steps;
    }

    /**
     * Chooses the actors whose messages within the process begin a span. The default chooses no
     * actor, because sending such a message is as cheap as calling a method.
     *
     * @param actors called for each message with a trace, on the handler's thread; for a pool, with
     * the pool. For all actors: {@code actor -> true}
     * @return a copy with this choice
     */
    public Options withLocalSpans(Predicate<? super Actor<?>> actors) {
      return new Options(Objects.requireNonNull(actors, "actors"), maxTraceAge, steps);
    }

    /**
     * Sets the age up to which a message from another node or from a store belongs to its sender's
     * trace. An older message, such as a reminder, begins a new trace, whose first span has a link
     * to the sender's span. The default is 5 minutes. With zero, each such message begins a new
     * trace.
     *
     * @param age the time between the send and the delivery to the actor, by the clocks of both
     * machines; not negative
     * @return a copy with this age
     */
    public Options withMaxTraceAge(Duration age) {
      if (age.isNegative())
        throw new IllegalArgumentException(
            "the max age of a trace is " + Durations.text(age) + "; zero is the lowest age");
      return new Options(localSpans, age, steps);
    }

    /**
     * Chooses the steps that begin a span: exchanges of HTTP servers, messages of connections,
     * steps and commits of durable actors, and work of queues. The default chooses all.
     *
     * @param chosen called for each step, on the handler's thread, such as
     * {@code step -> !step.name().equals("GET /health")}
     * @return a copy with this choice
     */
    public Options withSteps(Predicate<? super HandlerStep> chosen) {
      return new Options(localSpans, maxTraceAge, Objects.requireNonNull(chosen, "chosen"));
    }
  }

  private OpenTelemetryTraces(OpenTelemetry openTelemetry, Options options) {
    this.tracer = openTelemetry.getTracer(OpenTelemetryMetrics.INSTRUMENTATION);
    this.texts = new ContextTexts(openTelemetry.getPropagators().getTextMapPropagator());
    this.options = options;
  }

  /**
   * Makes a context propagator for the options of a scope.
   *
   * @param openTelemetry has the tracer, and the {@link TextMapPropagator} that writes traces as
   * texts, such as {@code traceparent} and {@code baggage}
   * @return a propagator with the default options
   */
  public static OpenTelemetryTraces of(OpenTelemetry openTelemetry) {
    return of(openTelemetry, options -> options);
  }

  /**
   * Makes a context propagator for the options of a scope.
   *
   * @param openTelemetry has the tracer, and the {@link TextMapPropagator} that writes traces as
   * texts, such as {@code traceparent} and {@code baggage}
   * @param options changes the default options
   * @return a propagator with these options
   */
  public static OpenTelemetryTraces of(OpenTelemetry openTelemetry, UnaryOperator<Options> options) {
    return new OpenTelemetryTraces(Objects.requireNonNull(openTelemetry, "openTelemetry"),
        options.apply(new Options(actor -> false, Duration.ofMinutes(5), step -> true)));
  }

  @Override
  public @Nullable Context capture() {
    var context = Context.current();
    return context == Context.root() ? null : context;
  }

  @Override
  public AutoCloseable restore(@Nullable Context captured) {
    return (captured == null ? Context.root() : captured).makeCurrent();
  }

  @Override
  public AutoCloseable restoreForSend(@Nullable Context captured, Actor<?> recipient, Object message) {
    return restore(captured);
  }

  @Override
  public AutoCloseable restore(@Nullable Context captured, Actor<?> actor, Object message) {
    if (captured == null) return restore(null); // not called with null, because null means that nothing was captured
    var arrival = captured.get(Arrival.KEY);
    boolean hasArrived = arrival != null && arrival.isPending();
    if (!hasArrived && !(Span.fromContext(captured).getSpanContext().isValid() && options.localSpans.test(actor)))
      return captured.makeCurrent();
    var builder = tracer.spanBuilder(SpanNames.nameOf(actor))
        .setParent(captured)
        .setSpanKind(hasArrived ? SpanKind.CONSUMER : SpanKind.INTERNAL)
        .setAllAttributes(SpanNames.attributesOf(actor, message));
    if (hasArrived) arrival.link().ifPresent(builder::addLink);
    var span = builder.startSpan();
    var context = hasArrived ? captured.with(Arrival.KEY, Arrival.HANDLED) : captured;
    return new HandlingSpan(span, context.with(span).makeCurrent());
  }

  @Override
  public StepObservation beginStep(HandlerStep step) {
    return options.steps.test(step) ? StepSpan.begin(tracer, texts, step) : StepObservation.NONE;
  }

  @Override
  public Map<String, String> write(@Nullable Context captured) {
    return captured == null ? Map.of() : texts.write(captured);
  }

  /** Returns the trace and baggage in the texts; null if they have neither. */
  @Override
  public @Nullable Context read(Map<String, String> sentTexts) {
    return texts.read(sentTexts, options.maxTraceAge);
  }
}
