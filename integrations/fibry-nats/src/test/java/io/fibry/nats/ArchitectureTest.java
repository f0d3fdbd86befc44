package io.fibry.nats;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.nats", Set.of("NatsNetwork", "NatsStore")));
  }

  @Override
  protected Map<String, String> exemptDependencies() {
    return Map.ofEntries(entry("NatsNetwork to NatsConnector", FACTORY), entry("NatsStore to NatsConnector", FACTORY));
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.of(Set.of("NatsNetwork", "Permissions"),
        "a network has roles, and prints the permissions of each role");
  }

  @Override
  protected Map<String, Integer> largePackages() {
    return Map.of("io.fibry.nats", 38);
  }
}
