package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a node that gets partitions while its store cannot be read. */
class PartitionsWithoutStoreTest {
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).storeMessages(9).state(0L)
      .handler((sum, count, context) -> {
        context.reply(count, sum + 1);
        return sum + 1;
      });

  private final ActorScope scope = ActorSystem.openScope("unreadable-store-test");
  private final AtomicInteger reads = new AtomicInteger(); // number of reads of the kind's pending messages

  @AfterEach
  void close() {
    scope.close();
  }

  /**
   * Returns a store whose reads of pending messages fail from read number {@code firstFailing} on,
   * and succeed again from read number {@code firstReadable} on.
   */
  private Store storeWithFailingReads(int firstFailing, int firstReadable) {
    var store = StoreBackend.of(MemoryStore.open());
    return Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      if (method.getName().equals("forEachPending") && arguments.length == 2) {
        int read = reads.incrementAndGet();
        if (read >= firstFailing && read < firstReadable) throw new StoreReadException("made up, for a test", null);
      }
      return call.pass();
    });
  }

  @Test
  void nodeOpensPartitionsWhenStoreBecomesReadable() {
    try (var node = Cluster.join("away", TestNetwork.inMemory(),
        options -> options.withScope(scope).withPartitions(4).withSettleTime(Duration.ofMillis(100)))) {
      var store = storeWithFailingReads(2, 8); // host(..) makes the first read when it checks its arguments
      var counters = node.host(COUNTER, store, scope.anonymous(), Duration.ofMinutes(1));

      for (int i = 0; i < 20; i++) assertEquals(1, counters.actor("k" + i).ask(new Count()));

      // the keys need not cover all partitions
      Patience.eventually(() -> node.health().partitions().get("counter") == 4);
      assertTrue(reads.get() >= 8);
    }
  }
}
