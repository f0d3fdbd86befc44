package io.fibry.cluster;

import io.fibry.cluster.Cluster.Member;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** A node as people see it, in lines. */
final class NodeDump {
  private NodeDump() {}

  static String of(ClusterNode node, Map<String, PartitionCoordinator<?>> homes, List<String> works,
      List<String> busy) {
    var health = node.health();
    var text = new StringBuilder(node + ", "
        + (health.isAlive() ? "alive" : "which others may declare dead") + ", "
        + health.connectionProblem().orElse("connected") + "\n");
    text.append("members:\n");
    for (var one : node.members()) text.append("  ").append(describe(one)).append('\n');
    if (!homes.isEmpty()) text.append("home to:\n");
    new TreeMap<>(homes).forEach((kind, home) -> text.append("  ").append(describe(kind, home.stats())).append('\n'));
    if (!works.isEmpty()) text.append("works on: ").append(String.join(", ", works)).append('\n');
    text.append("requests of others: ").append(health.pendingRequests()).append(" not answered\n");
    if (!busy.isEmpty()) text.append("messages on their way to: ").append(String.join(", ", busy)).append('\n');
    return text.toString();
  }

  private static String describe(String kind, HostingStats all) {
    return kind + ": " + all.localPartitions() + " of " + all.partitions() + " parts, " + all.actors() + " actors";
  }

  private static String describe(Member one) {
    return one.name() + ", since " + one.since() + list(", home to ", one.hosts())
        + list(", offers ", one.offers());
  }

  private static String list(String before, Collection<String> names) {
    return names.isEmpty() ? "" : before + String.join(" ", new TreeSet<>(names));
  }
}
