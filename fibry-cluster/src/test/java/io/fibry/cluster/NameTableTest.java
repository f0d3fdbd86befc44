package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.support.Patience;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests the decisions of a {@link NameTable}: one at a time, without a monitor. */
class NameTableTest {
  private final NameTable<CompletableFuture<String>> table = new NameTable<>(value -> value);

  /** On Java 21, a virtual thread that waits under a monitor holds its carrier. */
  @Test
  void decisionRunsUnderNoMonitor() throws Exception {
    var monitors = new FutureTask<>(() -> {
      var held = new ArrayList<Object>();
      table.decide("till", present -> {
        var infos = ManagementFactory.getThreadMXBean()
            .getThreadInfo(new long[] {Thread.currentThread().threadId()}, true, false);
        held.addAll(List.of(infos[0].getLockedMonitors()));
        return new CompletableFuture<>();
      });
      return held;
    });
    Thread.ofPlatform().daemon().start(monitors);
    assertEquals(List.of(), Patience.value(monitors));
  }

  @Test
  void concurrentDecisionsMakeOneValue() throws Exception {
    var made = new AtomicInteger();
    var begin = new CountDownLatch(1);
    var results = new ArrayList<CompletableFuture<CompletableFuture<String>>>();
    for (int i = 0; i < 20; i++) results.add(CompletableFuture.supplyAsync(() -> {
      Patience.await(begin);
      return table.decide("till", present -> present.orElseGet(() -> {
        made.incrementAndGet();
        return new CompletableFuture<>();
      }));
    }, Patience::startFiber));
    begin.countDown();
    for (var result : results) assertEquals(List.of(Patience.value(result)), List.copyOf(table.values()));
    assertEquals(1, made.get());
  }

  @Test
  void endedValueIsReplacedAndRemoved() {
    var first = table.decide("till", present -> new CompletableFuture<>());
    first.complete("ended");
    assertEquals(List.of(), List.copyOf(table.values()));
    assertEquals(Optional.empty(), presentValue());
    var endedAtOnce = table.decide("till", present -> CompletableFuture.completedFuture("ended"));
    assertEquals("ended", endedAtOnce.join());
    assertEquals(List.of(), List.copyOf(table.values()));
  }

  private Optional<CompletableFuture<String>> presentValue() {
    var presents = new ArrayList<Optional<CompletableFuture<String>>>();
    assertThrows(IllegalStateException.class, () -> table.decide("till", present -> {
      presents.add(present);
      throw new IllegalStateException("no value");
    }));
    return presents.getFirst();
  }

  @Test
  void failedDecisionKeepsValue() {
    var first = table.decide("till", present -> new CompletableFuture<>());
    assertEquals(Optional.of(first), presentValue());
    assertEquals(List.of(first), List.copyOf(table.values()));
  }
}
