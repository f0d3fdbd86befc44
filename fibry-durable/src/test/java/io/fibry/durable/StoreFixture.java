package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A scope and a store with a clock that the test advances. A subclass may choose another clock. */
abstract class StoreFixture {
  static final Duration IDLE = Duration.ofDays(100_000);
  private static final Instant START = Instant.parse("2026-02-28T23:59:00Z");

  final ManualScheduler clock = new ManualScheduler();
  final ActorScope scope = ActorSystem.openScope("bank", options -> options.withScheduler(scheduler()));
  StoreBackend store;

  @TempDir
  private Path folder;

  final TestStores.Maker maker;
  TestStores stores;
  private final List<TestStores> furtherStores = new ArrayList<>();

  StoreFixture(TestStores.Maker maker) {
    this.maker = maker;
  }

  @BeforeEach
  void openFirst() throws Exception {
    stores = maker.make(folder, instants());
    store = stores.open();
  }

  /** Opens a further store, which the test must close. */
  StoreBackend another(TestStores.Maker otherMaker) throws Exception {
    furtherStores.add(otherMaker.make(Files.createTempDirectory(folder, "other"), instants()));
    return furtherStores.getLast().open();
  }

  Scheduler scheduler() {
    return clock;
  }

  InstantSource instants() {
    return () -> START.plusNanos(clock.nanoTime());
  }

  /**
   * Simulates a crash, and returns a new store with the content that survived. The old store cannot
   * be used any more.
   */
  StoreBackend crash(StoreBackend oldStore) throws IOException {
    return stores.crash(oldStore);
  }

  @AfterEach
  void close() {
    scope.close();
    store.close();
    stores.close();
    furtherStores.forEach(TestStores::close);
  }

  void crashAndReopen(Actor<?>... actors) throws IOException {
    var newStore = crash(store);
    for (var actor : actors) actor.kill();
    for (var actor : actors) Patience.awaitEnd(actor::waitForExit);
    store = newStore;
  }

  /** Waits until the condition is true, and meanwhile runs timers that are due by the clock. */
  void eventually(BooleanSupplier condition) {
    Patience.eventually(() -> {
      clock.advance(Duration.ZERO);
      return condition.getAsBoolean();
    });
  }
}
