package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Counts the reads of an idle node from its store. */
class IdleNodeTest {
  record Remind(Duration in) {}

  private static final int ACTORS = 50;
  private static final Durable<Remind> DESK = Durable.kind("desk", Remind.class).storeMessages(9).state(0)
      .handler((heard, remind, context) -> {
        if (heard == 0) context.setReminder("bill", remind, remind.in());
        return heard + 1;
      });

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("idle-node", options -> options.withScheduler(clock));
  private final Map<String, AtomicInteger> reads = new ConcurrentHashMap<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private Store counted() {
    var store = MemoryStore.open(() -> Instant.EPOCH.plusNanos(clock.nanoTime()));
    return Intercepted.of(Store.class, store, (method, given, call) -> {
      String name = method.getName() + (given.length == 2 ? " of a kind" : "");
      reads.computeIfAbsent(name, none -> new AtomicInteger()).incrementAndGet();
      return call.pass();
    });
  }

  private Map<String, Integer> read() {
    var read = new TreeMap<String, Integer>();
    reads.forEach((name, times) -> read.put(name, times.get()));
    read.remove("clock");
    return read;
  }

  private Map<String, Integer> readWithin(Duration time) {
    var before = read();
    pass(time);
    var read = read();
    read.replaceAll((name, times) -> times - before.getOrDefault(name, 0));
    read.values().removeIf(times -> times == 0);
    return read;
  }

  private void pass(Duration time) {
    for (var left = time; left.isPositive(); left = left.minusSeconds(1)) {
      clock.advance(Duration.ofSeconds(1));
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }
  }

  @Test
  void idleNodeDoesNotReadDistantRemindersEachMinute() {
    var store = counted();
    try (var node = Cluster.join("idle", MemoryNetwork.create(clock),
        options -> options.withScope(scope).withPartitions(4).withLease(Duration.ofSeconds(10)))) {
      var joining = Patience.startFiber(() -> node.host(DESK, store, scope.anonymous(), Duration.ofHours(9)));
      Patience.eventually(() -> {
        pass(Duration.ofSeconds(1));
        return !joining.isAlive();
      });
      var desks = node.entities(DESK);
      for (int i = 0; i < ACTORS; i++) assertTrue(desks.actor("k" + i).sendMessage(new Remind(Duration.ofDays(365))));
      Patience.eventually(() -> readWithin(Duration.ofMinutes(1)).size() == 1); // each has set its reminder

      assertEquals(Map.of("forEachPending of a kind", 3), readWithin(Duration.ofMinutes(3)));
    }
  }
}
