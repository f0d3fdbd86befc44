package io.fibry.nats.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.nats.connection.StoreSubjects;
import io.fibry.store.StoreReadException;
import io.fibry.support.Logged;
import org.junit.jupiter.api.Test;

class StreamHistoryCleanerTest {
  private static final Runnable FAILING_PURGE = () -> {
    throw new StoreReadException("made up, for a test", null);
  };

  /**
   * During an outage the purges of all actors of a kind fail, so one line per failure would fill
   * the log.
   */
  @Test
  void failedPurgesAreLoggedOncePerKindUntilPurgeSucceeds() {
    var cleaner = new StreamHistoryCleaner(new StoreContext(null, new StoreSubjects("cleaned"), null));
    try (var logged = new Logged()) {
      for (int i = 0; i < 3; i++) cleaner.purge("cart", FAILING_PURGE);
      cleaner.purge("order", FAILING_PURGE);
      assertEquals(1, logged.linesOfThisThread("could not purge replaced turns of kind 'cart'").size());
      assertEquals(1, logged.linesOfThisThread("could not purge replaced turns of kind 'order'").size());

      cleaner.purge("cart", () -> {});
      cleaner.purge("cart", FAILING_PURGE);

      assertEquals(2, logged.linesOfThisThread("could not purge replaced turns of kind 'cart'").size());
    }
  }
}
