package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how often an idle node reads from its store. */
class IdleNodeTest {
  record Remind(Duration delay) {}

  private static final int ACTORS = 50;
  private static final Durable<Remind> DESK = Durable.kind("desk", Remind.class).storeMessages(9).state(0)
      .handler((count, remind, context) -> {
        if (count == 0) context.setReminder("bill", remind, remind.delay());
        return count + 1;
      });

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("idle-node", options -> options.withScheduler(clock));
  private final Map<String, AtomicInteger> reads = new ConcurrentHashMap<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private Store countingStore() {
    var store = StoreBackend.of(MemoryStore.open(() -> Instant.EPOCH.plusNanos(clock.nanoTime())));
    return Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      String name = method.getName() + (arguments.length == 2 ? " of a kind" : "");
      reads.computeIfAbsent(name, n -> new AtomicInteger()).incrementAndGet();
      return call.pass();
    });
  }

  private Map<String, Integer> readCounts() {
    var counts = new TreeMap<String, Integer>();
    reads.forEach((name, count) -> counts.put(name, count.get()));
    counts.remove("clock");
    return counts;
  }

  private Map<String, Integer> readWithin(Duration time) {
    var countsBefore = readCounts();
    passTime(time);
    var counts = readCounts();
    counts.replaceAll((name, count) -> count - countsBefore.getOrDefault(name, 0));
    counts.values().removeIf(count -> count == 0);
    return counts;
  }

  private void passTime(Duration time) {
    for (var remaining = time; remaining.isPositive(); remaining = remaining.minusSeconds(1)) {
      clock.advance(Duration.ofSeconds(1));
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }
  }

  @Test
  void idleNodeReadsRemindersOncePerKindEachMinute() {
    var store = countingStore();
    try (var node = Cluster.join("idle", MemoryNetwork.create(clock),
        options -> options.withScope(scope).withPartitions(4).withLease(Duration.ofSeconds(10)))) {
      var hosting = CompletableFuture.supplyAsync(
          () -> node.host(DESK, store, scope.anonymous(), Duration.ofHours(9)), Patience::startFiber);
      Patience.eventually(() -> {
        passTime(Duration.ofSeconds(1));
        return hosting.isDone();
      });
      Patience.value(hosting);
      var desks = node.entities(DESK);
      for (int i = 0; i < ACTORS; i++) assertTrue(desks.actor("k" + i).sendMessage(new Remind(Duration.ofDays(365))));
      Patience.eventually(() -> readWithin(Duration.ofMinutes(1)).size() == 1); // each actor has set its reminder

      assertEquals(Map.of("forEachPending of a kind", 3), readWithin(Duration.ofMinutes(3)));
    }
  }
}
