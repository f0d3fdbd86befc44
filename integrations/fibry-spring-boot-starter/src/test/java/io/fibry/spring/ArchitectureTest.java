package io.fibry.spring;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected List<Set<String>> layers() {
    return List.of(Set.of("io.fibry.spring"), Set.of("io.fibry.spring.monitoring"));
  }

  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.spring",
            // FiberPool and MessageTiming are public only for the package monitoring
            Set.of("ActorHandler", "FiberPool", "FibryAutoConfiguration", "FibryClusterAutoConfiguration",
                "FibryStoreAutoConfiguration", "FibryTasksAutoConfiguration", "FibryTomcatAutoConfiguration",
                "FibryWebAutoConfiguration", "MessageTiming", "ScopeCustomizer")),
        entry("io.fibry.spring.monitoring", Set.of("FibryActuatorAutoConfiguration", "FibryContextAutoConfiguration",
            "FibryMetricsAutoConfiguration", "FibryTracingAutoConfiguration")));
  }
}
