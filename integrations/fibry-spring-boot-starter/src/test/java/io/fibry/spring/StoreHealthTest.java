package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** What Actuator's health says of stores. */
class StoreHealthTest {
  @TempDir
  private Path folder;

  private static Health health(boolean full, boolean broken, List<String> torn) {
    return new Health(7, 6, 5, 4, 3, 2, 1, new FolderStore.Syncs(2, Duration.ofMillis(5), Duration.ofMillis(3)), full,
        broken, torn);
  }

  @Test
  void aStoreThatWorksIsUpAndSaysWhatItDid() {
    var now = StoreHealth.of(Map.of("one", StoreHealth.of(health(false, false, List.of()))));

    assertEquals("UP", now.status());
    assertEquals(Map.of("one",
        Map.of("turns", 7L, "refusedTurns", 6L, "pendingWrites", 5L, "actors", 4L, "pendingMessages", 3L,
            "parkedMessages",
            2L, "bytes", 1L, "lastSync", "PT0.003S")),
        now.details());
  }

  @Test
  void aTornEndIsShownAndNoFailure() {
    var now = StoreHealth.of(Map.of("one", StoreHealth.of(health(false, false, List.of("00000001-76.torn")))));

    assertEquals("UP", now.status());
    assertTrue(now.details().toString().contains("tornFiles=[00000001-76.torn]"), now::toString);
  }

  @Test
  void aFullStoreIsOutOfServiceAndABrokenOneIsDown() {
    var full = StoreHealth.of(health(true, false, List.of()));
    var broken = StoreHealth.of(health(false, true, List.of()));
    var whole = StoreHealth.of(health(false, false, List.of()));

    assertEquals("OUT_OF_SERVICE", StoreHealth.of(Map.of("one", full)).status());
    assertEquals("DOWN", StoreHealth.of(Map.of("one", broken)).status());
    assertEquals("DOWN", StoreHealth.of(health(true, true, List.of())).status());
    assertEquals("DOWN", StoreHealth.of(Map.of("one", full, "two", broken, "three", whole)).status());
    assertTrue(StoreHealth.of(Map.of("one", full)).details().toString().contains("why=the disk is full"));
  }

  @Test
  void healthCoversNonFolderStores() {
    try (var store = FolderStore.open(folder)) {
      var now = StoreHealth.check(Map.<String, Store>of("memory", MemoryStore.open(), "folder", store));

      assertEquals("UP", now.status());
      assertTrue(now.details().get("folder").toString().contains("turns="), now::toString);
      assertTrue(now.details().get("memory").toString().startsWith("{store="), now::toString);
    }
  }

  /** Simulates a database that is away. */
  @Test
  void aStoreThatCannotBeReadIsDownAndSaysWhy() {
    var away = Intercepted.of(Store.class, MemoryStore.open(), (method, given, call) -> {
      if (method.getName().equals("toString")) return "the store in jdbc:postgresql://db/shop";
      throw new StoreReadException("connection refused", null);
    });

    var now = StoreHealth.check(Map.of("database", away, "memory", MemoryStore.open()));

    assertEquals("DOWN", now.status());
    assertEquals(Map.of("store", "the store in jdbc:postgresql://db/shop", "why", "connection refused"),
        now.details().get("database"));
  }

  @Test
  void healthOfStoresCanBeLeftOut() {
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
