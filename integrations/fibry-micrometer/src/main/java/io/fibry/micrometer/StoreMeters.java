package io.fibry.micrometer;

import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.FolderStore.Health;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Meters of a store of durable actors, with the tag {@code store}: the counters
 * {@code fibry.store.turns} and {@code fibry.store.refused}, the timer {@code fibry.store.fsync},
 * and gauges. Thread-safe. Needs {@code fibry-durable}.
 * {@snippet class="io.fibry.micrometer.StoreMetersTest" region="store"}
 *
 * <p>When a registry reads the meters, all actors of the store are counted, at most once a second.
 * After the store has closed, the meters keep their last values until {@link #close}.
 */
public final class StoreMeters implements MeterBinder, AutoCloseable {
  private final Tags tags;
  private final FolderStore store;
  private final BoundMeters registered = new BoundMeters();

  /**
   * Makes meters with the tag {@code store}.
   *
   * @param name the tag's value
   * @param store the store to measure
   */
  public StoreMeters(String name, FolderStore store) {
    this(name, store, Tags.empty());
  }

  /**
   * Makes meters with the tag {@code store} and the given tags.
   *
   * @param name the tag's value
   * @param store the store to measure
   * @param tags more tags of all meters
   */
  public StoreMeters(String name, FolderStore store, Iterable<Tag> tags) {
    this.tags = Tags.of("store", name).and(tags);
    this.store = store;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var health = new CachedSample<>(store::health, registry.config().clock());
    addCounter(registry, health, "turns", "Turns that were stored", Health::turns);
    addCounter(registry, health, "refused", "Turns and messages that were not stored", Health::refusedTurns);
    registered.add(registry,
        FunctionTimer // the registry refers to the sample weakly, and its functions refer to it, too
            .builder("fibry.store.fsync", health, unused -> health.sample().syncs().count(),
                unused -> health.sample().syncs().total().toNanos(), TimeUnit.NANOSECONDS)
            .tags(tags).description("Syncs of the log to the disk").register(registry));
    addGauge(registry, health, "pending.writes", "Turns and messages that are not on the disk yet",
        Health::pendingWrites);
    addGauge(registry, health, "actors", "Actors that have stored turns", Health::actors);
    addGauge(registry, health, "pending.messages", "Messages that are not handled yet, and reminders",
        Health::pendingMessages);
    addGauge(registry, health, "parked.messages", "Parked messages", Health::parkedMessages);
    registered.add(registry, Gauge.builder("fibry.store.size", () -> health.sample().bytes()).tags(tags)
        .description("Size of the store's files").baseUnit(BaseUnits.BYTES).register(registry));
    addGauge(registry, health, "full", "1: the disk has no space for the next file", state -> state.isFull() ? 1 : 0);
    addGauge(registry, health, "broken", "1: the disk failed, and the store refuses all writes",
        state -> state.isBroken() ? 1 : 0);
  }

  private void addCounter(MeterRegistry registry, CachedSample<Health> health, String suffix, String description,
      ToLongFunction<Health> count) {
    registered.count(registry, "fibry.store." + suffix, tags, description, () -> count.applyAsLong(health.sample()));
  }

  private void addGauge(MeterRegistry registry, CachedSample<Health> health, String suffix, String description,
      ToDoubleFunction<Health> measure) {
    registered.gauge(registry, "fibry.store." + suffix, tags, description,
        () -> measure.applyAsDouble(health.sample()));
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
