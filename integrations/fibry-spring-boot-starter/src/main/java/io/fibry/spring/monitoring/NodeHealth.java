package io.fibry.spring.monitoring;

import io.fibry.cluster.Cluster;
import java.util.LinkedHashMap;

/**
 * The health of a node: whether its lease is valid, its connection, and its partitions. A node
 * recovers without a restart, so its worst status is {@code OUT_OF_SERVICE}.
 */
final class NodeHealth {

  private NodeHealth() {}

  static HealthReport of(Cluster cluster) {
    var health = cluster.health();
    var details = new LinkedHashMap<String, Object>();
    details.put("node", cluster.self().name());
    details.put("members", cluster.members().stream().map(Cluster.Member::name).toList());
    details.put("partitions", health.partitions());
    details.put("pendingRequests", health.pendingRequests());
    health.connectionProblem().ifPresent(problem -> details.put("why", problem));
    if (!health.isAlive()) details.putIfAbsent("why", "other nodes may declare this node dead; it joins again");
    boolean isUp = health.isAlive() && health.connectionProblem().isEmpty();
    return new HealthReport(isUp ? HealthReport.UP : HealthReport.OUT_OF_SERVICE, details);
  }
}
