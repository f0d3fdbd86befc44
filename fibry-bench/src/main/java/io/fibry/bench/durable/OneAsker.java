package io.fibry.bench.durable;

import io.fibry.ActorSystem;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.StorageDirectory;
import java.util.List;

/**
 * Measures one thread that asks one durable actor, or sends messages to an actor that stores them
 * first. The references are plain writes with sync on the same disk, and an actor in memory.
 */
final class OneAsker {
  private static final String DURABLE_ACTOR = "fibry, a durable actor is asked";

  private OneAsker() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-one",
        "one thread and one actor, on the disk of this machine: requests, messages that are stored first, and "
            + "what the disk can do",
        OneAsker::measure,
        MeasurementBudget.atLeast(0.5, 0.8, "one asker, one actor", DURABLE_ACTOR, PreparedFile.SIDE));
  }

  static List<RoundMeasurements> measure() throws Exception {
    try (var folder = TemporaryFolder.create();
        var file = PreparedFile.createOn(StorageDirectory.open(folder.path().resolve("file")));
        var store = FolderStore.open(folder.path().resolve("store"));
        var scope = ActorSystem.openScope("one")) {
      var counter = CountingActors.COUNTER.newActor(scope.named("counter"), store);
      var sender = new CountingActors.Sender(CountingActors.KEEPER.newActor(scope.named("keeper"), store));
      var inMemory = CountingActors.inMemory(scope.anonymous());
      return new Rounds()
          .side(PreparedFile.SIDE, Askers.UNIT, file::writesPerSecond)
          .side(DURABLE_ACTOR, Askers.UNIT, () -> Askers.rate(1, asker -> counter.ask(new CountingActors.Count())))
          .side("fibry, a message is stored first", Askers.UNIT,
              () -> Askers.rateOfJob(1, (asker, deadline) -> sender.send(deadline)))
          .side("fibry, an actor in memory is asked", Askers.UNIT,
              () -> Askers.rate(1, asker -> inMemory.ask(new CountingActors.Count())))
          .run();
    }
  }
}
