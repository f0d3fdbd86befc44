package io.fibry.bench.durable;

import io.fibry.ActorSystem;
import io.fibry.bench.Heap;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** The heap that a key takes whose actor is not alive. */
final class PassivatedKeys {
  private static final String PASSIVATED = "fibry, a key after passivation";
  private static final String OPENED = "fibry, a key after opening";
  private static final String BY_HAND = "by hand: a ConcurrentHashMap from key to number";
  private static final String UNIT = "B";
  private static final Duration IDLE = Duration.ofMillis(5);
  private static final int ASKERS = 256;

  private PassivatedKeys() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-heap",
        "heap of each of a million keys of durable actors, none of which is alive; their state is a number",
        PassivatedKeys::measure, FigureBudget.atMost(64, 48, "heap of a passivated key", PASSIVATED, ""))
        .inOneProcess();
  }

  /** {@code -Dsize} keys. */
  static List<RoundFigures> measure() throws Exception {
    int keys = Integer.getInteger("size", 1_000_000);
    double byHand = byHand(keys);
    try (var folder = TemporaryFolder.create()) {
      double passivated = passivated(keys, folder.path());
      double opened = opened(keys, folder.path());
      return List.of(RoundFigures.of(PASSIVATED, UNIT, passivated), RoundFigures.of(OPENED, UNIT, opened),
          RoundFigures.of(BY_HAND, UNIT, byHand));
    }
  }

  private static String key(int number) {
    return "key" + number;
  }

  private static double byHand(int keys) throws InterruptedException {
    long before = Heap.used();
    var map = new ConcurrentHashMap<String, Long>();
    for (int i = 0; i < keys; i++) map.put(key(i), i + 1_000L);
    double each = (Heap.used() - before) / (double) keys;
    if (map.size() != keys) throw new AssertionError(); // keeps it alive until here
    return each;
  }

  private static double passivated(int keys, Path folder) throws Exception {
    try (var store = FolderStore.open(folder);
        var scope = ActorSystem.openScope("keys");
        var counters = CountingActors.COUNTER.entities(scope.anonymous(), store, IDLE);
        var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      counters.actor("first").ask(new CountingActors.Count()); // makes what all share
      long before = Heap.used();
      var all = IntStream.range(0, ASKERS).mapToObj(first -> askers.submit(() -> {
        for (int i = first; i < keys; i += ASKERS) counters.actor(key(i)).ask(new CountingActors.Count());
        return null;
      })).toList();
      for (Future<?> one : all) one.get();
      while (counters.size() > 0) Thread.sleep(1);
      double each = (Heap.used() - before) / (double) keys;
      if (store.health().actors() != keys + 1) throw new IllegalStateException(store.health().toString());
      return each;
    }
  }

  private static double opened(int keys, Path folder) throws InterruptedException {
    long before = Heap.used();
    try (var store = FolderStore.open(folder)) {
      double each = (Heap.used() - before) / (double) keys;
      if (store.health().actors() != keys + 1) throw new IllegalStateException(store.health().toString());
      return each;
    }
  }
}
