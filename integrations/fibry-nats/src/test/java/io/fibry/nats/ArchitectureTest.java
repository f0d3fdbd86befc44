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
    return List.of(Set.of("io.fibry.nats"));
  }

  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.nats", Set.of("NatsNetwork", "NatsStore")));
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.ofEntries(
        entry(Set.of("AppClient", "AskOnlyTransport", "ConnectionErrors", "JetStreamLog", "MessageWriter",
            "NatsConnection", "NatsNetwork", "NatsQueue", "NatsStore", "NatsTable", "NatsTransport", "PendingMessages",
            "Permissions", "ProgramMessaging", "PurgeService", "PurgeTarget", "RequestMultiplexer", "StreamHistory",
            "StreamHistoryCleaner", "StreamSetup", "StreamStore", "TableDirectory", "TablePoller", "TableReconciler",
            "TurnReader", "TurnWriter", "WorkConsumer", "WriteOutcome"),
            "one package without an order of its types so far; to be cut"));
  }

  @Override
  protected Map<String, Integer> largePackages() {
    return Map.of("io.fibry.nats", 36);
  }
}
