package io.fibry.cluster;

import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.partition.HostingStats;
import io.fibry.cluster.partition.PartitionCoordinator;
import io.fibry.text.Lines;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Describes a node for operators, in lines. */
final class NodeDump {
  private NodeDump() {}

  static String of(Cluster node, Map<String, PartitionCoordinator<?>> coordinators, List<String> queues,
      List<String> busySenders) {
    var health = node.health();
    var text = new StringBuilder(node + ", "
        + (health.isAlive() ? "alive" : "which others may declare dead") + ", "
        + health.connectionProblem().orElse("connected") + "\n");
    text.append("members:\n");
    for (var member : node.members()) text.append("  ").append(describe(member)).append('\n');
    if (!coordinators.isEmpty()) text.append("hosts:\n");
    new TreeMap<>(coordinators).forEach((kind, coordinator) -> text.append("  ")
        .append(describe(kind, coordinator.stats())).append('\n'));
    if (!queues.isEmpty()) text.append("works on: ").append(String.join(", ", queues)).append('\n');
    text.append("requests of others: ").append(health.pendingRequests()).append(" not answered\n");
    if (!busySenders.isEmpty())
      text.append("messages in flight to: ").append(String.join(", ", busySenders)).append('\n');
    return text.toString();
  }

  private static String describe(String kind, HostingStats stats) {
    return kind + ": " + stats.localPartitions() + " of " + Lines.count(stats.partitions(), "partition") + ", "
        + Lines.count(stats.actors(), "actor");
  }

  private static String describe(Member member) {
    return member.name() + ", since " + member.since() + list(", hosts ", member.hosts())
        + list(", offers ", member.offers());
  }

  private static String list(String prefix, Collection<String> names) {
    return names.isEmpty() ? "" : prefix + String.join(" ", new TreeSet<>(names));
  }
}
