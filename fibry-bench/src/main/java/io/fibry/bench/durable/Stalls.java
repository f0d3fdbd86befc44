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
 * How long another virtual thread, which sleeps a millisecond again and again, does not get on
 * while many actors are asked. A thread that waits for the disk must hold no carrier.
 */
final class Stalls {
  private static final String DURABLE = "fibry, 1,024 durable actors are asked";
  private static final String IN_MEMORY = "fibry, 1,024 actors in memory are asked";
  private static final long NAP = TimeUnit.MILLISECONDS.toNanos(1);

  private Stalls() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-stalls",
        "how much longer than 1 ms a virtual thread sleeps at worst, while 1,024 others ask an actor each",
        Stalls::measure,
        FigureBudget.atMost(2, 1, "longest stall of other virtual threads", DURABLE, IN_MEMORY));
  }

  static List<RoundFigures> measure() throws Exception {
    try (var folder = TemporaryFolder.create();
        var store = FolderStore.open(folder.path());
        var scope = ActorSystem.openScope("stalls")) {
      var numbers = IntStream.range(0, Askers.many());
      var durable =
          numbers.mapToObj(number -> CountingActors.COUNTER.newActor(scope.named("counter-" + number), store)).toList();
      var inMemory = durable.stream().map(same -> CountingActors.inMemory(scope.anonymous())).toList();
      return new Rounds().side(DURABLE, "ms", () -> longest(durable)).side(IN_MEMORY, "ms", () -> longest(inMemory))
          .run();
    }
  }

  private static double longest(List<Actor<CountingActors.Count>> asked) throws Exception {
    var over = new AtomicBoolean();
    var longest = new AtomicLong();
    var sleeper = Thread.startVirtualThread(() -> {
      do longest.accumulateAndGet(nap(), Math::max);
      while (!over.get());
    });
    Askers.rate(asked.size(), number -> asked.get(number).ask(new CountingActors.Count()));
    over.set(true);
    sleeper.join();
    return (longest.get() - NAP) / 1e6;
  }

  private static long nap() {
    long began = System.nanoTime();
    try {
      TimeUnit.NANOSECONDS.sleep(NAP);
    } catch (InterruptedException never) {
      throw new AssertionError(never);
    }
    return System.nanoTime() - began;
  }
}
