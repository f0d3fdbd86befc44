package io.fibry.bench.durable;

import io.fibry.ActorSystem;
import io.fibry.bench.Heap;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.pool.Entities;
import io.fibry.store.folder.FolderStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Measures the heap of a handler of a durable actor that sleeps for a day, after a step, as a
 * workflow does. Beside it, a handler of an actor in memory and a bare virtual thread sleep. The
 * heap includes the actor, its stack and the store's index.
 */
final class SleepingHandlers {
  private static final String DURABLE = "fibry, a durable handler sleeps";
  private static final String IN_MEMORY = "fibry, a handler of an actor in memory sleeps";
  private static final String THREAD = "by hand: a virtual thread is parked, ten frames deep";
  private static final String UNIT = "B";
  private static final Duration SLEEP = Duration.ofDays(1);
  private static final Duration WARM_UP_SLEEP = Duration.ofMillis(1);
  private static final int SENDERS = 256;
  private static final int TURNS_EACH = 2; // before an actor sleeps: its step, and the end of its sleep
  private static final int DEPTH = 10;

  private record Order(Duration sleep) {}

  private static final Durable<Order> WORKFLOW =
      Durable.kind("workflow", Order.class).storeMessages(10).state(0L).handler(SleepingHandlers::handle);

  private SleepingHandlers() {}

  private static Long handle(Long count, Order order, DurableContext<Order> context) throws Exception {
    long charged = context.step("charge", Long.class, () -> 1L);
    context.sleep("wait", order.sleep());
    return count + charged;
  }

  static DurableQuestion question() {
    return DurableQuestion.of("durable-sleep", "heap of each of 20,000 handlers that sleep for a day",
        SleepingHandlers::measure,
        MeasurementBudget.atMost(9_500, 3_000, "heap of a sleeping handler", DURABLE, "")).inOneProcess();
  }

  /** The property {@code size} sets the number of sleepers, by default 20,000. */
  static List<RoundMeasurements> measure() throws Exception {
    int sleepers = Integer.getInteger("size", 20_000);
    try (var folder = TemporaryFolder.create()) {
      double durableBytes = heapOfDurable(sleepers, folder);
      double actorBytes = heapOfActors(sleepers);
      double threadBytes = heapOfThreads(sleepers);
      return List.of(RoundMeasurements.of(DURABLE, UNIT, durableBytes),
          RoundMeasurements.of(IN_MEMORY, UNIT, actorBytes),
          RoundMeasurements.of(THREAD, UNIT, threadBytes));
    }
  }

  private static double heapOfDurable(int sleepers, TemporaryFolder folder) throws Exception {
    var scope = ActorSystem.openScope("workflows"); // never closed, because the process ends while its actors sleep
    try (var store = FolderStore.open(folder.path())) {
      var shortWorkflows = WORKFLOW.entities(scope.anonymous(), store, WARM_UP_SLEEP);
      send(shortWorkflows, "short", sleepers, WARM_UP_SLEEP);
      while (store.health().pendingMessages() > 0 || shortWorkflows.size() > 0) Thread.sleep(1);
      shortWorkflows.close();
      var workflows = WORKFLOW.entities(scope.anonymous(), store, Duration.ofMinutes(1));
      send(workflows, "first", 1, WARM_UP_SLEEP); // creates the objects that all actors share
      while (store.health().pendingMessages() > 0) Thread.sleep(1);
      long turnsBefore = store.health().turns();
      long heapBefore = Heap.used();
      send(workflows, "long", sleepers, SLEEP);
      while (store.health().turns() < turnsBefore + TURNS_EACH * (long) sleepers) Thread.sleep(1);
      double bytesPerSleeper = (Heap.used() - heapBefore) / (double) sleepers;
      if (store.health().pendingMessages() != sleepers) throw new IllegalStateException(store.health().toString());
      return bytesPerSleeper;
    }
  }

  private static void send(Entities<String, Order> workflows, String prefix, int count, Duration sleep)
      throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var results = IntStream.range(0, SENDERS).mapToObj(first -> threads.submit(() -> {
        for (int i = first; i < count; i += SENDERS) workflows.actor(prefix + i).sendMessage(new Order(sleep));
      })).toList();
      for (Future<?> result : results) result.get();
    }
  }

  private static double heapOfActors(int sleepers) throws InterruptedException {
    var asleep = new AtomicInteger();
    var scope = ActorSystem.openScope("actors"); // never closed
    long heapBefore = Heap.used();
    for (int i = 0; i < sleepers; i++) {
      var actor = scope.named("actor" + i).newActor((Duration sleep) -> {
        asleep.incrementAndGet();
        Thread.sleep(sleep);
      });
      actor.sendMessage(SLEEP);
    }
    while (asleep.get() < sleepers) Thread.sleep(1);
    return (Heap.used() - heapBefore) / (double) sleepers;
  }

  private static double heapOfThreads(int sleepers) throws InterruptedException {
    var threads = new ArrayList<Thread>();
    var asleep = new AtomicInteger();
    long heapBefore = Heap.used();
    for (int i = 0; i < sleepers; i++) threads.add(Thread.startVirtualThread(() -> park(DEPTH, asleep)));
    while (asleep.get() < sleepers) Thread.sleep(1);
    double bytesPerSleeper = (Heap.used() - heapBefore) / (double) sleepers;
    threads.forEach(LockSupport::unpark);
    return bytesPerSleeper;
  }

  /** Parks the thread below {@code depth} frames. Returns a value, so that no frame is left out. */
  private static int park(int depth, AtomicInteger asleep) {
    if (depth > 0) return park(depth - 1, asleep) + 1;
    asleep.incrementAndGet();
    LockSupport.park();
    return 0;
  }
}
