package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.StorageFailedException;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import io.fibry.test.CrashDisk;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreMetersTest {
  private final MockClock clock = new MockClock();
  private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

  record Count() implements Request<Count, Long> {}

  /** Counts, and sets a reminder that is due in a year. */
  private static final Durable<Count> COUNTER =
      Durable.kind("counter", Count.class).state(0L).handler((n, count, context) -> {
        context.setReminder("again", new Count(), Duration.ofDays(365));
        context.reply(count, n + 1);
        return n + 1;
      });

  private double counter(String name) {
    return registry.get(name).tag("store", "orders").functionCounter().count();
  }

  private double gauge(String name) {
    return registry.get(name).tag("store", "orders").gauge().value();
  }

  /** Waits, because turns are counted after their answers. */
  private void awaitValue(double expected, DoubleSupplier value) {
    Patience.eventually(() -> {
      clock.addSeconds(1); // so that the meter takes a sample
      return value.getAsDouble() == expected;
    });
  }

  @Test
  void storeHealthIsShownByMeters(@TempDir Path folder) {
    try (var store = FolderStore.open(folder)) {
      // @start region="store"
      var meters = new StoreMeters("orders", store);
      meters.bindTo(registry);
      // @end
      try (var actor = COUNTER.newActor(ActorSystem.named("c"), store)) {
        for (int i = 0; i < 3; i++) actor.ask(new Count());
      }
      awaitValue(3, () -> counter("fibry.store.turns"));
      awaitValue(0, () -> counter("fibry.store.refused"));
      assertEquals("bytes", registry.get("fibry.store.size").meter().getId().getBaseUnit());
      awaitValue(1, () -> gauge("fibry.store.actors"));
      awaitValue(1, () -> gauge("fibry.store.pending.messages"));
      awaitValue(0, () -> gauge("fibry.store.parked.messages"));
      awaitValue(0, () -> gauge("fibry.store.pending.writes"));
      awaitValue(0, () -> gauge("fibry.store.full"));
      awaitValue(0, () -> gauge("fibry.store.broken"));
      Patience.eventually(() -> {
        clock.addSeconds(1);
        return store.health().bytes() == gauge("fibry.store.size");
      });
      var syncTimer = registry.get("fibry.store.fsync").tag("store", "orders").functionTimer();
      awaitValue(3, syncTimer::count);
      assertEquals(store.health().syncs().total().toNanos(), syncTimer.totalTime(TimeUnit.NANOSECONDS), 1);
      meters.close();
      assertEquals(List.of(), registry.getMeters());
    }
  }

  @Test
  void metersShowBrokenStateOfClosedStore() {
    var disk = CrashDisk.empty();
    try (var store = FolderStore.open(disk, options -> options.withSegmentBytes(1 << 14));
        var actor = COUNTER.newActor(ActorSystem.named("c"), store)) {
      new StoreMeters("orders", store, Tags.of("disk", "one")).bindTo(registry);
      disk.beforeOperation(operation -> {
        throw new UncheckedIOException(new IOException("made up, for a test"));
      });
      assertThrows(StorageFailedException.class, () -> actor.ask(new Count()));
    }
    awaitValue(1, () -> gauge("fibry.store.broken"));
    awaitValue(0, () -> counter("fibry.store.turns"));
    awaitValue(1, () -> counter("fibry.store.refused"));
    assertTrue(registry.getMeters().stream().allMatch(meter -> "one".equals(meter.getId().getTag("disk"))));
  }
}
