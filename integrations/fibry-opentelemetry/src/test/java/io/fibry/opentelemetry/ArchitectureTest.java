package io.fibry.opentelemetry;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.opentelemetry",
            Set.of("MessageDurations", "NodeMetrics", "OpenTelemetryMetrics", "OpenTelemetryTraces", "StoreMetrics")));
  }
}
