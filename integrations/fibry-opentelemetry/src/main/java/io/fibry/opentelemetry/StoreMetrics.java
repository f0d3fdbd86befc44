package io.fibry.opentelemetry;

import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.FolderStore.Health;

/** Adds the metrics of a store of durable actors. Needs {@code fibry-durable}. Thread-safe. */
public final class StoreMetrics {
  private static final String RECORDS = "{record}";

  private StoreMetrics() {}

  /**
   * Adds a store: {@code fibry.store.turns}, {@code fibry.store.refused},
   * {@code fibry.store.fsyncs}, {@code fibry.store.fsync.time}, and its state. Each
   * collection counts all actors of the store. After the store has closed, its metrics keep their
   * last values.
   * {@snippet class="io.fibry.opentelemetry.StoreAndNodeMetricsTest" region="store"}
   *
   * @param metrics gets the metrics, and removes them when it closes
   * @param name the attribute {@code store}
   * @param store the store
   */
  public static void addTo(OpenTelemetryMetrics metrics, String name, FolderStore store) {
    metrics.add(metrics.sampled(metrics.attributesWith("store", name), store::health)
        .counter("fibry.store.turns", "{turn}", "Turns that were stored", Health::turns)
        .counter("fibry.store.refused", RECORDS, "Turns and messages that were not stored", Health::refusedTurns)
        .counter("fibry.store.fsyncs", "{fsync}", "Syncs of the log to the disk", health -> health.syncs().count())
        .seconds("fibry.store.fsync.time", "The time that these syncs took",
            health -> OpenTelemetryMetrics.seconds(health.syncs().total()))
        .level("fibry.store.pending.writes", RECORDS, "Turns and messages that are not on the disk yet",
            Health::pendingWrites)
        .level("fibry.store.actors", "{actor}", "Actors that have stored turns", Health::actors)
        .level("fibry.store.pending.messages", OpenTelemetryMetrics.MESSAGES,
            "Messages that are not handled yet, and reminders", Health::pendingMessages)
        .level("fibry.store.parked.messages", OpenTelemetryMetrics.MESSAGES, "Parked messages",
            Health::parkedMessages)
        .level("fibry.store.size", "By", "Size of the store's files", Health::bytes)
        .flag("fibry.store.full", "1: the disk has no space for the next file", Health::isFull)
        .flag("fibry.store.broken", "1: the disk failed, and the store refuses all writes", Health::isBroken)
        .register());
  }
}
