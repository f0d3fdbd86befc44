package io.fibry.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** The meters that a binder has registered; it removes them when it closes. Thread-safe. */
final class BoundMeters {
  private final List<BoundMeter> meters = new ArrayList<>(); // guarded by the monitor

  private record BoundMeter(MeterRegistry registry, Meter meter) {}

  synchronized void add(MeterRegistry registry, Meter meter) {
    meters.add(new BoundMeter(registry, meter));
  }

  /**
   * Registers a counter. The registry has only a weak reference to {@code count}. The function
   * refers to {@code count}, too, so that it is not collected.
   */
  void count(MeterRegistry registry, String name, Tags tags, String description, LongSupplier count) {
    add(registry, FunctionCounter.builder(name, count, unused -> count.getAsLong())
        .tags(tags).description(description).register(registry));
  }

  void gauge(MeterRegistry registry, String name, Tags tags, String description, DoubleSupplier value) {
    add(registry, Gauge.builder(name, value::getAsDouble).tags(tags).description(description).register(registry));
  }

  synchronized void remove() {
    for (var bound : meters) bound.registry.remove(bound.meter);
    meters.clear();
  }
}
