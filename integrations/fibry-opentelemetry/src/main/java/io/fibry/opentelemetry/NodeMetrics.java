package io.fibry.opentelemetry;

import io.fibry.cluster.Cluster;

/** Adds the metrics of a node. Needs {@code fibry-cluster}. Thread-safe. */
public final class NodeMetrics {

  /** The node's state at one moment. */
  private record NodeReading(boolean isLeaving, Cluster.Health health, int members) {
    /** Reads the health first, so that a health after the leave comes with {@code isLeaving}. */
    static NodeReading of(Cluster cluster) {
      var health = cluster.health();
      return new NodeReading(cluster.isLeaving(), health, cluster.members().size());
    }

    int partitions() {
      return health.partitions().values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  private NodeMetrics() {}

  /**
   * Adds a node: {@code fibry.node.alive}, {@code fibry.node.connected},
   * {@code fibry.node.leaving}, {@code fibry.node.members}, {@code fibry.node.partitions} and
   * {@code fibry.node.pending.requests}. After the node has left the cluster,
   * {@code fibry.node.alive} is 0, and {@code fibry.node.leaving} is 1.
   * {@snippet class="io.fibry.opentelemetry.StoreAndNodeMetricsTest" region="node"}
   *
   * @param metrics gets the metrics, and removes them when it closes
   * @param cluster has the attributes {@code app} and {@code node}
   */
  public static void addTo(OpenTelemetryMetrics metrics, Cluster cluster) {
    var attributes = metrics.attributesWith("app", cluster.app()).toBuilder()
        .put("node", cluster.self().name()).build();
    metrics.add(metrics.sampled(attributes, () -> NodeReading.of(cluster))
        .flag("fibry.node.alive", "0: other nodes may declare this node dead, and its entities handle no requests",
            node -> node.health().isAlive())
        .flag("fibry.node.connected", "0: no message can be sent at the moment",
            node -> node.health().connectionProblem().isEmpty())
        .flag("fibry.node.leaving", "1: the node leaves or has left, because its close was called",
            NodeReading::isLeaving)
        .level("fibry.node.members", "{node}", "Nodes that are alive, as this node knows", NodeReading::members)
        .level("fibry.node.partitions", "{partition}", "Partitions of all kinds that this node owns",
            NodeReading::partitions)
        .level("fibry.node.pending.requests", "{request}", "Requests of other nodes that are not answered yet",
            node -> node.health().pendingRequests())
        .register());
  }
}
