package io.fibry.spring.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.spring.FibryAutoConfiguration;
import io.fibry.spring.FibryStoreAutoConfiguration;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.FolderStore.Health;
import io.fibry.support.Intercepted;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests the health that Actuator shows for stores. */
class StoreHealthTest {
  @TempDir
  private Path folder;

  private static Health health(boolean isFull, boolean isBroken, List<String> tornFiles) {
    return new Health(7, 6, 5, 4, 3, 8, 2, 1, new FolderStore.Syncs(2, Duration.ofMillis(5), Duration.ofMillis(3)),
        isFull,
        isBroken, tornFiles);
  }

  @Test
  void workingStoreIsUpAndShowsStatistics() {
    var status = StoreHealth.worst(Map.of("one", StoreHealth.of(health(false, false, List.of()))));

    assertEquals("UP", status.status());
    assertEquals(Map.of("one",
        Map.of("turns", 7L, "refusedTurns", 6L, "pendingWrites", 5L, "actors", 4L, "pendingMessages", 3L, "dueMessages",
            8L,
            "parkedMessages",
            2L, "bytes", 1L, "lastSync", "PT0.003S")),
        status.details());
  }

  @Test
  void storeWithTornFileIsUpAndShowsFile() {
    var status = StoreHealth.worst(Map.of("one", StoreHealth.of(health(false, false, List.of("00000001-76.torn")))));

    assertEquals("UP", status.status());
    assertTrue(status.details().toString().contains("tornFiles=[00000001-76.torn]"), status::toString);
  }

  @Test
  void fullStoreIsOutOfServiceAndBrokenStoreIsDown() {
    var fullStore = StoreHealth.of(health(true, false, List.of()));
    var brokenStore = StoreHealth.of(health(false, true, List.of()));
    var healthyStore = StoreHealth.of(health(false, false, List.of()));

    assertEquals("OUT_OF_SERVICE", StoreHealth.worst(Map.of("one", fullStore)).status());
    assertEquals("DOWN", StoreHealth.worst(Map.of("one", brokenStore)).status());
    assertEquals("DOWN", StoreHealth.of(health(true, true, List.of())).status());
    assertEquals("DOWN",
        StoreHealth.worst(Map.of("one", fullStore, "two", brokenStore, "three", healthyStore)).status());
    assertTrue(StoreHealth.worst(Map.of("one", fullStore)).details().toString().contains("why=the disk is full"));
  }

  @Test
  void healthShowsMemoryStoreBesideFolderStore() {
    try (var store = FolderStore.open(folder)) {
      var status = StoreHealth.of(Map.<String, Store>of("memory", MemoryStore.open(), "folder", store));

      assertEquals("UP", status.status());
      assertTrue(status.details().get("folder").toString().contains("turns="), status::toString);
      assertTrue(status.details().get("memory").toString().startsWith("{store="), status::toString);
    }
  }

  /** Simulates a database that cannot be reached. */
  @Test
  void unreachableStoreIsDownWithReason() {
    var unreachable = Intercepted.of(Store.class, MemoryStore.open(), (method, arguments, call) -> {
      if (method.getName().equals("toString")) return "the store in jdbc:postgresql://db/shop";
      throw new StoreReadException("connection refused", null);
    });

    var status = StoreHealth.of(Map.of("database", unreachable, "memory", MemoryStore.open()));

    assertEquals("DOWN", status.status());
    assertEquals(Map.of("store", "the store in jdbc:postgresql://db/shop", "why", "connection refused"),
        status.details().get("database"));
  }

  @Test
  void storeHealthCanBeDisabled() {
    var runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class,
        FibryStoreAutoConfiguration.class, FibryActuatorAutoConfiguration.class))
        .withPropertyValues("fibry.store.folder=" + folder);

    runner.run(context -> assertTrue(context.containsBean("fibryStoreHealthIndicator")));
    runner.withPropertyValues("management.health.fibry-store.enabled=false").run(context -> {
      assertFalse(context.containsBean("fibryStoreHealthIndicator"));
      assertTrue(context.containsBean("fibryHealthIndicator"));
    });
  }
}
