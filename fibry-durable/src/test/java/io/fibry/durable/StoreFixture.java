package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.store.Store;
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

/** A scope and a store. Tests move their time, unless they choose otherwise. */
abstract class StoreFixture {
  static final Duration IDLE = Duration.ofDays(100_000);
  private static final Instant START = Instant.parse("2026-02-28T23:59:00Z");

  final ManualScheduler clock = new ManualScheduler();
  final ActorScope scope = ActorSystem.openScope("bank", options -> options.withScheduler(scheduler()));
  Store store;

  @TempDir
  private Path folder;

  final TestStores.Maker maker;
  TestStores stores;
  private final List<TestStores> others = new ArrayList<>();

  StoreFixture(TestStores.Maker maker) {
    this.maker = maker;
  }

  @BeforeEach
  void openFirst() throws Exception {
    stores = maker.make(folder, instants());
    store = stores.open();
  }

  /** A store of that kind beside the first one, to be closed by the test. */
  Store another(TestStores.Maker kind) throws Exception {
    others.add(kind.make(Files.createTempDirectory(folder, "other"), instants()));
    return others.getLast().open();
  }

  Scheduler scheduler() {
    return clock;
  }

  InstantSource instants() {
    return () -> START.plusNanos(clock.nanoTime());
  }

  /** Returns the content after a crash, as a new store; the store before is useless. */
  Store crash(Store before) throws IOException {
    return stores.crash(before);
  }

  @AfterEach
  void close() {
    scope.close();
    store.close();
    stores.close();
    others.forEach(TestStores::close);
  }

  void crashAndReopen(Actor<?>... actors) throws IOException {
    var after = crash(store);
    for (var actor : actors) actor.kill();
    for (var actor : actors) Patience.ended(actor::waitForExit);
    store = after;
  }

  /** Timers that were set after the time had moved come, too. */
  void eventually(BooleanSupplier fact) {
    Patience.eventually(() -> {
      clock.advance(Duration.ZERO);
      return fact.getAsBoolean();
    });
  }
}
