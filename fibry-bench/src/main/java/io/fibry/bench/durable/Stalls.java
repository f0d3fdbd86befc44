package io.fibry.bench.durable;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.store.folder.FolderStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Measures how late a virtual thread wakes up at worst. The thread sleeps for a millisecond again
 * and again, while many actors are asked. A thread that waits for the disk must not occupy a
 * carrier.
 */
final class Stalls {
  private static final String DURABLE = "fibry, 1,024 durable actors are asked";
  private static final String IN_MEMORY = "fibry, 1,024 actors in memory are asked";
  private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private Stalls() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-stalls",
        "how much longer than 1 ms a virtual thread sleeps at worst, while 1,024 others ask an actor each",
        Stalls::measure,
        MeasurementBudget.atMost(2, 1, "longest stall of other virtual threads", DURABLE, IN_MEMORY));
  }

  static List<RoundMeasurements> measure() throws Exception {
    try (var folder = TemporaryFolder.create();
        var store = FolderStore.open(folder.path());
        var scope = ActorSystem.openScope("stalls")) {
      var numbers = IntStream.range(0, Askers.manyAskers());
      var durable =
          numbers.mapToObj(number -> CountingActors.COUNTER.newActor(scope.named("counter-" + number), store)).toList();
      var inMemory = durable.stream().map(actor -> CountingActors.inMemory(scope.anonymous())).toList();
      return new Rounds().side(DURABLE, "ms", () -> longestStall(durable))
          .side(IN_MEMORY, "ms", () -> longestStall(inMemory)).run();
    }
  }

  private static double longestStall(List<Actor<CountingActors.Count>> actors) throws Exception {
    var isOver = new AtomicBoolean();
    var longestNap = new AtomicLong();
    var sleeper = Thread.startVirtualThread(() -> {
      do longestNap.accumulateAndGet(napNanos(), Math::max);
      while (!isOver.get());
    });
    try {
      Askers.rate(actors.size(), number -> actors.get(number).ask(new CountingActors.Count()));
    } finally {
      isOver.set(true);
    }
    sleeper.join();
    return (longestNap.get() - NAP_NANOS) / 1e6;
  }

  private static long napNanos() {
    long began = System.nanoTime();
    try {
      TimeUnit.NANOSECONDS.sleep(NAP_NANOS);
    } catch (InterruptedException failure) {
      throw new AssertionError(failure);
    }
    return System.nanoTime() - began;
  }
}
