package io.fibry.micrometer;

import io.fibry.flow.CircuitBreaker;
import io.fibry.flow.CircuitBreaker.BreakerStats;
import io.fibry.flow.CircuitBreaker.State;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToLongFunction;

/**
 * Meters of a circuit breaker, with the tag {@code breaker}: the counters
 * {@code fibry.breaker.permitted}, {@code fibry.breaker.failed} and {@code fibry.breaker.refused},
 * and the gauge {@code fibry.breaker.open}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.BlockMetersTest" region="breaker"}
 *
 * <p>All meters of a read show the breaker at one moment, at most a second ago.
 */
public final class BreakerMeters implements MeterBinder, AutoCloseable {
  private final Tags tags;
  private final CircuitBreaker breaker;
  private final BoundMeters registered = new BoundMeters();

  /**
   * Makes meters with the tag {@code breaker}.
   *
   * @param name the value of the tag
   * @param breaker the breaker to measure
   */
  public BreakerMeters(String name, CircuitBreaker breaker) {
    this(name, breaker, Tags.empty());
  }

  /**
   * Makes meters with the tag {@code breaker} and the given tags.
   *
   * @param name the value of the tag {@code breaker}
   * @param breaker the breaker to measure
   * @param tags more tags of all meters
   */
  public BreakerMeters(String name, CircuitBreaker breaker, Iterable<Tag> tags) {
    this.tags = Tags.of("breaker", name).and(tags);
    this.breaker = breaker;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var sample = new CachedSample<>(() -> new BreakerCounts(breaker.stats(), breaker.state()),
        registry.config().clock());
    count(registry, sample, "permitted", "Calls that have begun", BreakerStats::permitted);
    count(registry, sample, "failed", "Calls that have failed", BreakerStats::failed);
    count(registry, sample, "refused", "Calls that the breaker has refused", BreakerStats::refused);
    registered.gauge(registry, "fibry.breaker.open", tags, "1: the breaker is open or half open, and refuses calls",
        () -> sample.sample().state == State.CLOSED ? 0 : 1);
  }

  /** The breaker at one moment. */
  private record BreakerCounts(BreakerStats stats, State state) {}

  private void count(MeterRegistry registry, CachedSample<BreakerCounts> sample, String suffix, String description,
      ToLongFunction<BreakerStats> measure) {
    registered.count(registry, "fibry.breaker." + suffix, tags, description,
        () -> measure.applyAsLong(sample.sample().stats));
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
