package io.fibry.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.opentelemetry.api.metrics.ObservableMeasurement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The instruments of one scope, server, block, store or node. Each collection takes one sample, and
 * all instruments record their values from this sample. One thread adds all instruments before
 * {@link #register}; then this class is thread-safe.
 *
 * @param <S> the type of the sample
 */
final class SampledInstruments<S> {
  private final Meter meter;
  private final Attributes attributes;
  private final Supplier<S> source;
  private final List<ObservableMeasurement> measurements = new ArrayList<>();
  private final List<Consumer<S>> recorders = new ArrayList<>();

  SampledInstruments(Meter meter, Attributes attributes, Supplier<S> source) {
    this.meter = meter;
    this.attributes = attributes;
    this.source = source;
  }

  /** Adds a count that only rises. */
  SampledInstruments<S> counter(String name, String unit, String description, ToLongFunction<S> count) {
    return counters(name, unit, description,
        (sample, counter) -> counter.record(count.applyAsLong(sample), attributes));
  }

  /** Adds counts with attributes of their own. */
  SampledInstruments<S> counters(String name, String unit, String description,
      BiConsumer<S, ObservableLongMeasurement> recorder) {
    return add(meter.counterBuilder(name).setUnit(unit).setDescription(description).buildObserver(), recorder);
  }

  /** Adds a number that rises and falls, and whose sum over several processes has a meaning. */
  SampledInstruments<S> level(String name, String unit, String description, ToLongFunction<S> level) {
    return levels(name, unit, description,
        (sample, measurement) -> measurement.record(level.applyAsLong(sample), attributes));
  }

  /** Adds such numbers with attributes of their own. */
  SampledInstruments<S> levels(String name, String unit, String description,
      BiConsumer<S, ObservableLongMeasurement> recorder) {
    return add(meter.upDownCounterBuilder(name).setUnit(unit).setDescription(description).buildObserver(), recorder);
  }

  /** Adds a gauge that is 1 or 0. It has no unit, because Prometheus calls the unit 1 a ratio. */
  SampledInstruments<S> flag(String name, String description, Predicate<S> flag) {
    return add(meter.gaugeBuilder(name).ofLongs().setDescription(description).buildObserver(),
        (sample, gauge) -> gauge.record(flag.test(sample) ? 1 : 0, attributes));
  }

  /** Adds a sum of times, in seconds. */
  SampledInstruments<S> seconds(String name, String description, ToDoubleFunction<S> seconds) {
    return add(
        meter.counterBuilder(name).ofDoubles().setUnit("s").setDescription(description).buildObserver(),
        (sample, counter) -> counter.record(seconds.applyAsDouble(sample), attributes));
  }

  /** Adds gauges of counts, with attributes of their own. */
  SampledInstruments<S> gauges(String name, String unit, String description,
      BiConsumer<S, ObservableLongMeasurement> recorder) {
    return add(meter.gaugeBuilder(name).ofLongs().setUnit(unit).setDescription(description).buildObserver(), recorder);
  }

  /** Adds gauges of seconds, with attributes of their own. */
  SampledInstruments<S> secondGauges(String name, String description,
      BiConsumer<S, ObservableDoubleMeasurement> recorder) {
    return add(meter.gaugeBuilder(name).setUnit("s").setDescription(description).buildObserver(), recorder);
  }

  private <M extends ObservableMeasurement> SampledInstruments<S> add(M measurement, BiConsumer<S, M> recorder) {
    measurements.add(measurement);
    recorders.add(sample -> recorder.accept(sample, measurement));
    return this;
  }

  /** Begins to record values. Returns how to end this. */
  AutoCloseable register() {
    var others = measurements.subList(1, measurements.size()).toArray(ObservableMeasurement[]::new);
    return meter.batchCallback(() -> {
      S sample = source.get();
      for (var recorder : recorders) recorder.accept(sample);
    }, measurements.getFirst(), others);
  }
}
