package io.fibry.bench.durable;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Measures many threads that ask durable actors at once, on a disk where each sync takes at least
 * 2 ms. A sync covers the turns of many actors.
 */
final class ManyAskers {
  private static final Duration SYNC_TIME = Duration.ofMillis(2);
  private static final String ACTOR_EACH = "fibry, an actor for each";
  private static final String SHARED_ACTOR = "fibry, one actor for all";
  private static final String ONE_BY_ONE = "fibry, one actor for all, maxUnstoredTurns(1)";

  private ManyAskers() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-many",
        "1,024 threads that ask durable actors, on a disk where each sync takes 2 ms", ManyAskers::measure,
        MeasurementBudget.atLeast(300, 600, "1,024 actors, an asker each, syncs of 2 ms", ACTOR_EACH,
            PreparedFile.SIDE),
        MeasurementBudget.atLeast(0.7, 1, "one actor, 1,024 askers, syncs of 2 ms", SHARED_ACTOR, ACTOR_EACH),
        MeasurementBudget.atLeast(200, 330, "one actor, 1,024 askers, syncs of 2 ms", SHARED_ACTOR, ONE_BY_ONE));
  }

  static List<RoundMeasurements> measure() throws Exception {
    try (var folder = TemporaryFolder.create();
        var file = PreparedFile.createOn(slowDisk(folder.path().resolve("file")));
        var store = FolderStore.open(slowDisk(folder.path().resolve("store")), options -> options);
        var scope = ActorSystem.openScope("many")) {
      int askers = Askers.manyAskers();
      var counters = newActors("counter-", CountingActors.COUNTER, askers, scope, store);
      var senders = newActors("keeper-", CountingActors.KEEPER, askers, scope, store).stream()
          .map(CountingActors.Sender::new).toList();
      var shared = CountingActors.COUNTER.newActor(scope.named("hot"), store);
      var oneByOne = CountingActors.ONE_BY_ONE.newActor(scope.named("one-by-one"), store);
      return new Rounds()
          .side(PreparedFile.SIDE, Askers.UNIT, file::writesPerSecond)
          .side(ACTOR_EACH, Askers.UNIT,
              () -> Askers.rate(askers, asker -> counters.get(asker).ask(new CountingActors.Count())))
          .side(SHARED_ACTOR, Askers.UNIT, () -> Askers.rate(askers, asker -> shared.ask(new CountingActors.Count())))
          .side(ONE_BY_ONE, Askers.UNIT, () -> Askers.rate(askers, asker -> oneByOne.ask(new CountingActors.Count())))
          .side("fibry, an actor for each, messages are stored first", Askers.UNIT,
              () -> Askers.rateOfJob(askers, (asker, deadline) -> senders.get(asker).send(deadline)))
          .run();
    }
  }

  private static StorageDirectory slowDisk(Path folder) throws IOException {
    return new SlowDisk(StorageDirectory.open(folder), SYNC_TIME.toNanos());
  }

  private static <M> List<Actor<M>> newActors(String name, Durable<M> kind, int count, ActorScope scope, Store store) {
    return IntStream.range(0, count).mapToObj(number -> kind.newActor(scope.named(name + number), store)).toList();
  }
}
