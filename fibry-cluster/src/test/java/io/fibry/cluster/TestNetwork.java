package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A network whose nodes live until a test ends them: no machine is so busy that a lease of a minute
 * runs out. Thread-safe.
 */
final class TestNetwork implements ClusterNetwork {
  static final Duration LEASE = Duration.ofMinutes(1);

  private final ClusterNetwork network;
  private final Map<String, ClusterTransport> engines = new ConcurrentHashMap<>(); // by node: its last connection

  TestNetwork(ClusterNetwork network) {
    this.network = network;
  }

  static TestNetwork inMemory() {
    return new TestNetwork(MemoryNetwork.create());
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    var engine = network.connect(app, node);
    engines.put(node, engine);
    return engine;
  }

  @Override
  public Duration lease() {
    return LEASE;
  }

  /** {@return the last connection of a node} */
  ClusterTransport engine(String node) {
    return engines.get(node);
  }

  /**
   * Ends a node without notice, as a kill and the end of its lease do: its connection closes, and
   * another node writes that its life is over. Its actors end with its scope; closing the node
   * would wait for others.
   */
  void end(Cluster node) {
    String name = node.self().name();
    String key = new Subjects(node.app()).keyOfNode(name);
    engines.get(name).close();
    try (var others = network.connect(node.app(), "others")) {
      Patience.eventually(() -> {
        var entry = others.get(key);
        var there = entry.flatMap(NodeState::of).filter(one -> !one.isOver());
        return there.isEmpty() || there.get().end(others, key, entry.get().version(), "a test ended it");
      });
    }
  }
}
