package io.fibry.dashboard;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.dashboard", Set.of("Dashboard", "DashboardOptions")));
  }

  @Override
  protected Map<String, Integer> largePackages() {
    return Map.of("io.fibry.dashboard", 30);
  }
}
