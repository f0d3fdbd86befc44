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

/** Measures the heap of a key of durable actors while the actor of the key is passivated. */
final class PassivatedKeys {
  private static final String PASSIVATED = "fibry, a key after passivation";
  private static final String OPENED = "fibry, a key after opening";
  private static final String BY_HAND = "by hand: a ConcurrentHashMap from key to number";
  private static final String UNIT = "B";
  private static final Duration IDLE_LIMIT = Duration.ofMillis(5);
  private static final int ASKERS = 256;

  private PassivatedKeys() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-heap",
        "heap of each of a million keys of durable actors that are not loaded; their state is a number",
        PassivatedKeys::measure, MeasurementBudget.atMost(64, 48, "heap of a passivated key", PASSIVATED, ""))
        .inOneProcess();
  }

  /** The property {@code size} sets the number of keys, by default a million. */
  static List<RoundMeasurements> measure() throws Exception {
    int keys = Integer.getInteger("size", 1_000_000);
    double mapBytes = heapOfMap(keys);
    try (var folder = TemporaryFolder.create()) {
      double passivatedBytes = heapAfterPassivation(keys, folder.path());
      double openedBytes = heapAfterOpening(keys, folder.path());
      return List.of(RoundMeasurements.of(PASSIVATED, UNIT, passivatedBytes),
          RoundMeasurements.of(OPENED, UNIT, openedBytes),
          RoundMeasurements.of(BY_HAND, UNIT, mapBytes));
    }
  }

  private static String key(int number) {
    return "key" + number;
  }

  private static double heapOfMap(int keys) throws InterruptedException {
    long heapBefore = Heap.used();
    var map = new ConcurrentHashMap<String, Long>();
    for (int i = 0; i < keys; i++) map.put(key(i), i + 1_000L);
    double bytesPerKey = (Heap.used() - heapBefore) / (double) keys;
    if (map.size() != keys) throw new AssertionError(); // keeps the map alive until here
    return bytesPerKey;
  }

  private static double heapAfterPassivation(int keys, Path folder) throws Exception {
    try (var store = FolderStore.open(folder);
        var scope = ActorSystem.openScope("keys");
        var counters = CountingActors.COUNTER.entities(scope.anonymous(), store, IDLE_LIMIT);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      counters.actor("first").ask(new CountingActors.Count()); // creates the objects that all actors share
      long heapBefore = Heap.used();
      var results = IntStream.range(0, ASKERS).mapToObj(firstKey -> threads.submit(() -> {
        for (int i = firstKey; i < keys; i += ASKERS) counters.actor(key(i)).ask(new CountingActors.Count());
        return null;
      })).toList();
      for (Future<?> result : results) result.get();
      while (counters.size() > 0) Thread.sleep(1);
      double bytesPerKey = (Heap.used() - heapBefore) / (double) keys;
      if (store.health().actors() != keys + 1) throw new IllegalStateException(store.health().toString());
      return bytesPerKey;
    }
  }

  private static double heapAfterOpening(int keys, Path folder) throws InterruptedException {
    long heapBefore = Heap.used();
    try (var store = FolderStore.open(folder)) {
      double bytesPerKey = (Heap.used() - heapBefore) / (double) keys;
      if (store.health().actors() != keys + 1) throw new IllegalStateException(store.health().toString());
      return bytesPerKey;
    }
  }
}
