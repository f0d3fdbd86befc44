package io.fibry.dashboard;

import io.fibry.cluster.Cluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A panel with the health of a node of a cluster. */
record NodePanel(String title, Cluster cluster) implements Panel {

  static NodePanel of(Cluster cluster) {
    return new NodePanel("node " + cluster.self().name() + " of " + cluster.app(), cluster);
  }

  @Override
  public boolean hasTrend() {
    return false;
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos, PanelInput input) {
    var map = map(title, cluster.health(), cluster.members().size());
    return () -> map;
  }

  static Map<String, Object> map(String title, Cluster.Health health, int members) {
    var values = JsonText.object("lease", health.isAlive() ? "valid" : "expired", "connection",
        health.connectionProblem().orElse("open"), "members", members, "pending requests",
        health.pendingRequests());
    health.partitions().forEach((kind, count) -> values.put("partitions of " + kind, count));
    return Panel.map(title, values, problems(health));
  }

  private static List<String> problems(Cluster.Health health) {
    var problems = new ArrayList<String>();
    if (!health.isAlive()) problems.add("without lease");
    if (health.connectionProblem().isPresent()) problems.add("disconnected");
    return problems;
  }
}
