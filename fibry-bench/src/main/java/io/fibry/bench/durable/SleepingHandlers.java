package io.fibry.bench.durable;

import io.fibry.ActorSystem;
import io.fibry.bench.ChildJvm;
import io.fibry.bench.Heap;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.pool.Entities;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
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
 * workflow does. Other such handlers fell asleep in a process that was killed, and continue in this
 * process. Beside them, a handler of an actor in memory and a bare virtual thread sleep. The heap
 * includes the actor, its stack and the store's index.
 */
final class SleepingHandlers {
  private static final String DURABLE = "fibry, a durable handler sleeps";
  private static final String RESTARTED = "fibry, a durable handler sleeps after a restart";
  private static final String IN_MEMORY = "fibry, a handler of an actor in memory sleeps";
  private static final String THREAD = "by hand: a virtual thread is parked, ten frames deep";
  private static final String UNIT = "B";
  private static final Duration SLEEP = Duration.ofDays(1);
  private static final Duration WARM_UP_SLEEP = Duration.ofMillis(1);
  private static final int SENDERS = 256;
  // Turns before an actor sleeps: its step, and the end of its sleep. After a restart: the attempt
  // is counted, and the count is set to 0 again.
  private static final int TURNS_EACH = 2;
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(1);
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
        MeasurementBudget.atMost(7_500, 3_000, "heap of a sleeping handler", DURABLE, ""),
        MeasurementBudget.atMost(8_500, 3_000, "heap of a sleeping handler after a restart", RESTARTED, ""))
        .inOneProcess();
  }

  /** The property {@code size} sets the number of sleepers, by default 20,000. */
  static List<RoundMeasurements> measure() throws Exception {
    int sleepers = Integer.getInteger("size", 20_000);
    try (var folder = TemporaryFolder.create()) {
      double durableBytes = heapOfDurable(sleepers, folder);
      double restartedBytes = heapAfterRestart(sleepers);
      double actorBytes = heapOfActors(sleepers);
      double threadBytes = heapOfThreads(sleepers);
      return List.of(RoundMeasurements.of(DURABLE, UNIT, durableBytes),
          RoundMeasurements.of(RESTARTED, UNIT, restartedBytes),
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
      var workflows = WORKFLOW.entities(scope.anonymous(), store, IDLE_LIMIT);
      send(workflows, "first", 1, WARM_UP_SLEEP); // creates the objects that all actors share
      while (store.health().pendingMessages() > 0) Thread.sleep(1);
      long turnsBefore = store.health().turns();
      long heapBefore = Heap.used();
      send(workflows, "long", sleepers, SLEEP);
      awaitSleep(store, turnsBefore, sleepers);
      return (Heap.used() - heapBefore) / (double) sleepers;
    }
  }

  private static void awaitSleep(FolderStore store, long turnsBefore, int sleepers) throws InterruptedException {
    while (store.health().turns() < turnsBefore + TURNS_EACH * (long) sleepers) Thread.sleep(1);
    if (store.health().pendingMessages() != sleepers) throw new IllegalStateException(store.health().toString());
  }

  private static double heapAfterRestart(int sleepers) throws Exception {
    try (var folder = TemporaryFolder.create()) {
      ChildJvm.run(List.of(), List.of(), SleepingHandlers.class, folder.path(), sleepers);
      long heapBefore = Heap.used();
      var scope = ActorSystem.openScope("restarted workflows"); // never closed
      try (var store = FolderStore.open(folder.path())) {
        WORKFLOW.entities(scope.anonymous(), store, IDLE_LIMIT); // delivers the messages that wait in the store
        awaitSleep(store, 0, sleepers);
        return (Heap.used() - heapBefore) / (double) sleepers;
      }
    }
  }

  /** The process that is killed. Its arguments are the folder, and the number of handlers. */
  public static void main(String[] args) throws Exception {
    int sleepers = Integer.parseInt(args[1]);
    var store = FolderStore.open(Path.of(args[0]));
    var workflows = WORKFLOW.entities(ActorSystem.openScope("workflows").anonymous(), store, IDLE_LIMIT);
    send(workflows, "long", sleepers, SLEEP);
    awaitSleep(store, 0, sleepers);
    Runtime.getRuntime().halt(0);
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
