package io.fibry.cluster;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected List<Set<String>> layers() {
    return List.of(Set.of("io.fibry.cluster.spi"), Set.of("io.fibry.cluster.wire"), Set.of("io.fibry.cluster"),
        Set.of("io.fibry.cluster.membership"), Set.of("io.fibry.cluster.remote"),
        Set.of("io.fibry.cluster.partition", "io.fibry.cluster.NetworkWorkQueue"),
        Set.of("io.fibry.cluster.NodeDump", "io.fibry.cluster.QueueWorkers"), Set.of("io.fibry.cluster.LocalNode"));
  }

  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.cluster",
            Set.of("Cluster", "ClusterNetwork", "MemoryNetwork", "RemoteFailureException", "TransportException",
                "UnavailableException", "WorkQueue")),
        entry("io.fibry.cluster.spi", Set.of("ClusterTransport", "WireMessage")));
  }

  @Override
  protected Map<String, String> exemptDependencies() {
    return Map.ofEntries(
        entry("Cluster to LocalNode", FACTORY));
  }

  /** The simulated tests of fibry-proof read the lost messages that RemoteOutbox reports. */
  @Override
  protected Set<String> typesUsedByTestsOfOtherModules() {
    return Set.of("io.fibry.cluster.remote.RemoteOutbox");
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.of(Set.of("MemoryNetwork", "MemoryQueue", "MemoryTransport"),
        "MemoryNetwork stands for the servers: it makes the transports and queues of the nodes, which call it");
  }
}
