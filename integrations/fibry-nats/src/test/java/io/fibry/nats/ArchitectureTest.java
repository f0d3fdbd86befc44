package io.fibry.nats;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected List<Set<String>> layers() {
    return List.of(Set.of("io.fibry.nats"), Set.of("io.fibry.nats.connection"), Set.of("io.fibry.nats.stream"),
        Set.of("io.fibry.nats.store", "io.fibry.nats.transport"), Set.of("io.fibry.nats.StreamStore"),
        Set.of("io.fibry.nats.NatsConnector"));
  }

  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.nats", Set.of("NatsNetwork", "NatsStore")));
  }

  @Override
  protected Map<String, String> exemptDependencies() {
    return Map.ofEntries(
        entry("NatsNetwork to NatsConnector", FACTORY), entry("NatsStore to NatsConnector", FACTORY),
        entry("NatsNetwork to Permissions", "a network has roles, and prints the permissions of each role"));
  }
}
