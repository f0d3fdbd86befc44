package io.fibry.micrometer;

import io.fibry.cluster.Cluster;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/**
 * Gauges of the health of a node, with the tags {@code app} and {@code node}. Thread-safe. Needs
 * {@code fibry-cluster}.
 * {@snippet class="io.fibry.micrometer.NodeMetersTest" region="node"}
 *
 * <p>When a registry reads the gauges, the partitions of the node are counted, at most once a
 * second. The gauges stay registered until {@link #close}, also after the node has left the
 * cluster; {@code alive} is then 0, and {@code leaving} is 1.
 */
public final class NodeMeters implements MeterBinder, AutoCloseable {

  /** The node's state at one moment. */
  private record NodeSample(boolean isLeaving, Cluster.Health health, int members) {
    /** Reads the health first, so that a health after the leave comes with {@code isLeaving}. */
    static NodeSample of(Cluster cluster) {
      var health = cluster.health();
      return new NodeSample(cluster.isLeaving(), health, cluster.members().size());
    }
  }

  private final Tags tags;
  private final Cluster cluster;
  private final BoundMeters registered = new BoundMeters();

  /**
   * Makes gauges with the tags {@code app} and {@code node}.
   *
   * @param cluster the node's cluster
   */
  public NodeMeters(Cluster cluster) {
    this(cluster, Tags.empty());
  }

  /**
   * Makes gauges with the tags {@code app} and {@code node}, and the given tags.
   *
   * @param cluster the node's cluster
   * @param tags further tags, which all gauges get
   */
  public NodeMeters(Cluster cluster, Iterable<Tag> tags) {
    this.tags = Tags.of("app", cluster.app(), "node", cluster.self().name()).and(tags);
    this.cluster = cluster;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var sample = new CachedSample<>(() -> NodeSample.of(cluster), registry.config().clock());
    gauge(registry, sample, "alive", "0: other nodes may declare this node dead, and its entities handle no requests",
        node -> node.health().isAlive() ? 1 : 0);
    gauge(registry, sample, "connected", "0: no message can be sent at the moment",
        node -> node.health().connectionProblem().isEmpty() ? 1 : 0);
    gauge(registry, sample, "leaving", "1: the node leaves or has left, because its close was called",
        node -> node.isLeaving() ? 1 : 0);
    gauge(registry, sample, "members", "Nodes that are alive, as this node knows", NodeSample::members);
    gauge(registry, sample, "partitions", "Partitions of all kinds that this node owns",
        node -> node.health().partitions().values().stream().mapToInt(Integer::intValue).sum());
    gauge(registry, sample, "pending.requests", "Requests of other nodes that are not answered yet",
        node -> node.health().pendingRequests());
  }

  private void gauge(MeterRegistry registry, CachedSample<NodeSample> sample, String suffix, String description,
      ToDoubleFunction<NodeSample> measure) {
    registered.gauge(registry, "fibry.node." + suffix, tags, description,
        () -> measure.applyAsDouble(sample.sample()));
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
