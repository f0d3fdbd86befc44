package io.fibry.jdbc;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.jdbc", Set.of("JdbcStore")));
  }

  @Override
  protected Map<String, String> exemptDependencies() {
    return Map.of("JdbcStore to TableStore", "a public type, and the implementation that its factory method creates");
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.ofEntries(
        entry(Set.of("TableHistory", "TableStore"), "a store wakes its open histories, which read from it"),
        entry(Set.of("H2Dialect", "PostgresDialect", "SqlDialect"),
            "an interface, and the two dialects between which it chooses"));
  }
}
