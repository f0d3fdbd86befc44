package io.fibry.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;

/** What a binder has registered, to be removed when it closes. Thread-safe. */
final class BoundMeters {
  private final List<BoundMeter> all = new ArrayList<>(); // guarded by the monitor

  private record BoundMeter(MeterRegistry registry, Meter meter) {}

  synchronized void add(MeterRegistry registry, Meter meter) {
    all.add(new BoundMeter(registry, meter));
  }

  synchronized void remove() {
    for (var each : all) each.registry.remove(each.meter);
    all.clear();
  }
}
