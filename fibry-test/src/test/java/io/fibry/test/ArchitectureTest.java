package io.fibry.test;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.test",
            Set.of("CrashDisk", "FibryExtension", "GoldenFiles", "NatsServer", "Probe", "TestScope", "TestServer",
                "TestWebSocket")));
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.ofEntries(entry(Set.of("TestServer", "TestWebSocket"),
        "a server opens WebSockets, which have its requests and responses"));
  }
}
