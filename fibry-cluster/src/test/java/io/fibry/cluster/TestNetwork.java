package io.fibry.cluster;

import io.fibry.cluster.membership.NodeState;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A network whose nodes live until a test ends them: even on a busy machine, their lease of one
 * minute does not expire. Thread-safe.
 */
public final class TestNetwork implements ClusterNetwork {
  static final Duration LEASE = Duration.ofMinutes(1);

  private final ClusterNetwork network;
  private final Map<String, ClusterTransport> transports = new ConcurrentHashMap<>(); // last connection of each node

  TestNetwork(ClusterNetwork network) {
    this.network = network;
  }

  public static TestNetwork inMemory() {
    return new TestNetwork(MemoryNetwork.create());
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    var transport = network.connect(app, node);
    transports.put(node, transport);
    return transport;
  }

  @Override
  public Duration lease() {
    return LEASE;
  }

  /** {@return the last connection of a node} */
  ClusterTransport transport(String node) {
    return transports.get(node);
  }

  /**
   * Ends a node without notice, as a kill and the expiry of its lease do: its connection closes,
   * and another node writes that its life is over. Its actors run until the test closes their
   * scope. The node is not closed, because a close would wait for other nodes.
   */
  void crash(Cluster node) {
    String name = node.self().name();
    String key = new Subjects(node.app()).keyOfNode(name);
    transports.get(name).close();
    try (var otherNode = network.connect(node.app(), "others")) {
      Patience.eventually(() -> {
        var entry = otherNode.get(key);
        var liveState = entry.flatMap(NodeState::of).filter(state -> !state.isOver());
        return liveState.isEmpty() || liveState.get().end(otherNode, key, entry.get().version(), "a test ended it");
      });
    }
  }
}
