package io.fibry.carriers;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(entry("io.fibry.carriers", Set.of("OwnCarriers")));
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.of(Set.of("CarrierPool", "Carrier", "CarrierWatch", "Runner"),
        "the scheduler: its carriers, the watch that corrects them, and the threads that run drains");
  }
}
