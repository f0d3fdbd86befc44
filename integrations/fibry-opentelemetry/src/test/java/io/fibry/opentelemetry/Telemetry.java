package io.fibry.opentelemetry;

import io.fibry.support.Patience;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.PointData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** An SDK that keeps spans and metrics in memory. */
final class Telemetry implements AutoCloseable {
  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final InMemoryMetricReader metrics = InMemoryMetricReader.create();
  private final OpenTelemetrySdk sdk = OpenTelemetrySdk.builder()
      .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build())
      .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(metrics).build())
      .setPropagators(ContextPropagators.create(TextMapPropagator.composite(W3CTraceContextPropagator.getInstance(),
          W3CBaggagePropagator.getInstance())))
      .build();

  OpenTelemetry api() {
    return sdk;
  }

  /** Runs code in a new span, which is the root of a trace. Returns the code's result. */
  <R> R inSpan(String name, Supplier<R> code) {
    var span = sdk.getTracer("test").spanBuilder(name).setNoParent().startSpan();
    try {
      return Context.root().with(span).wrapSupplier(code).get();
    } finally {
      span.end();
    }
  }

  List<SpanData> spans() {
    return spans.getFinishedSpanItems();
  }

  List<SpanData> spans(String name) {
    return spans().stream().filter(span -> span.getName().equals(name)).toList();
  }

  /** Waits, because a span of a handler ends after the answer. */
  SpanData span(String name) {
    Patience.eventually(() -> spans(name).size() == 1);
    return spans(name).getFirst();
  }

  static String currentTrace() {
    return Span.current().getSpanContext().getTraceId();
  }

  // ---- metrics

  List<MetricData> metrics() {
    return List.copyOf(metrics.collectAllMetrics());
  }

  Optional<MetricData> metric(String name) {
    return metrics().stream().filter(metric -> metric.getName().equals(name)).findFirst();
  }

  /** Returns the point that has these attributes, perhaps among others; empty if there is none. */
  Optional<? extends PointData> point(String name, Map<String, ?> attributes) {
    return metric(name).stream().flatMap(metric -> metric.getData().getPoints().stream())
        .filter(point -> attributes.entrySet().stream().allMatch(attribute -> String.valueOf(attribute.getValue())
            .equals(attributeOf(point, attribute.getKey()))))
        .findFirst();
  }

  private static String attributeOf(PointData point, String name) {
    return point.getAttributes().asMap().entrySet().stream()
        .filter(attribute -> ((AttributeKey<?>) attribute.getKey()).getKey().equals(name))
        .map(attribute -> attribute.getValue().toString()).findFirst().orElse("");
  }

  /** Returns the value of a point, or the count of a histogram; -1 if there is no such point. */
  double value(String name, Map<String, ?> attributes) {
    return switch (point(name, attributes).orElse(null)) {
      case LongPointData point -> point.getValue();
      case DoublePointData point -> point.getValue();
      case HistogramPointData point -> point.getCount();
      case null, default -> -1;
    };
  }

  @Override
  public void close() {
    sdk.close();
  }
}
