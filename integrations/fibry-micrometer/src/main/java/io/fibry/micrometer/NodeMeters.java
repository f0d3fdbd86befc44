package io.fibry.micrometer;

import io.fibry.cluster.Cluster;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The health of a node as gauges with the tags {@code app} and {@code node}. Thread-safe. Needs
 * {@code fibry-cluster}.
 * {@snippet class="io.fibry.micrometer.NodeMetersTest" region="node"}
 *
 * <p>A registry that reads costs a look at the parts that are here, at most once a second. The
 * gauges stay after the node has left, with its last values, until {@link #close}.
 */
public final class NodeMeters implements MeterBinder, AutoCloseable {

  /** The node's state at one moment. */
  private record NodeSample(Cluster.Health health, int members) {
    static NodeSample of(Cluster cluster) {
      return new NodeSample(cluster.health(), cluster.members().size());
    }
  }

  private final Tags tags;
  private final CachedSample<NodeSample> now;
  private final BoundMeters bound = new BoundMeters();

  /**
   * Meters with the tags {@code app} and {@code node}.
   *
   * @param cluster whose health they tell
   */
  public NodeMeters(Cluster cluster) {
    this(cluster, Tags.empty());
  }

  /**
   * Meters with these tags and more.
   *
   * @param cluster whose health they tell
   * @param tags on all meters
   */
  public NodeMeters(Cluster cluster, Iterable<Tag> tags) {
    this.tags = Tags.of("app", cluster.app(), "node", cluster.self().name()).and(tags);
    this.now = new CachedSample<>(() -> NodeSample.of(cluster));
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    gauge(registry, "alive", null, "0: other nodes may declare it dead, and it handles requests of no entity",
        now -> now.health().isAlive() ? 1 : 0);
    gauge(registry, "connected", null, "0: nothing leaves at the moment",
        now -> now.health().connectionProblem().isEmpty() ? 1 : 0);
    gauge(registry, "members", "nodes", "Nodes that are alive, as this one knows", NodeSample::members);
    gauge(registry, "parts", "parts", "Parts of the keys of all kinds that have their home here",
        now -> now.health().partitions().values().stream().mapToInt(Integer::intValue).sum());
    gauge(registry, "under.way", "requests", "Requests of other nodes that are not answered yet",
        now -> now.health().pendingRequests());
  }

  private void gauge(MeterRegistry registry, String what, @Nullable String unit, String description,
      ToDoubleFunction<NodeSample> figure) {
    bound.add(registry, Gauge.builder("fibry.node." + what, () -> figure.applyAsDouble(now.sample())).tags(tags)
        .baseUnit(unit).description(description).register(registry));
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    bound.remove();
  }
}
