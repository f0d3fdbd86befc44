package io.fibry.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;

/** The meters that a binder has registered; it removes them when it closes. Thread-safe. */
final class BoundMeters {
  private final List<BoundMeter> meters = new ArrayList<>(); // guarded by the monitor

  private record BoundMeter(MeterRegistry registry, Meter meter) {}

  synchronized void add(MeterRegistry registry, Meter meter) {
    meters.add(new BoundMeter(registry, meter));
  }

  synchronized void remove() {
    for (var bound : meters) bound.registry.remove(bound.meter);
    meters.clear();
  }
}
