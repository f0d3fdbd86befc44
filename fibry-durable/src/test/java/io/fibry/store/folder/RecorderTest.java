package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Logged;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutionException;
import jdk.jfr.consumer.RecordedEvent;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the events of a flight recording, and their fields. */
class RecorderTest {
  private static final int SEGMENT = 1 << 14;
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");

  @TempDir
  private Path folder;

  @BeforeAll
  static void requireFlightRecorder() {
    Assumptions.assumeTrue(ModuleLayer.boot().findModule("jdk.jfr").isPresent(), "this Java has no flight recorder");
  }

  private FaultyDisk newFaultyDisk() throws Exception {
    return new FaultyDisk(folder);
  }

  private static LogStore openStore(FaultyDisk faulty) {
    return (LogStore) FolderStore.open(faulty.disk(), options -> options.withSegmentBytes(SEGMENT));
  }

  private static void append(StoreBackend store, long life, long number, boolean isFullState, int size)
      throws Exception {
    store
        .append(
            new StoreBackend.Turn(ADA, life, number, Instant.EPOCH, isFullState, new byte[size], List.of(), List.of()))
        .toCompletableFuture().get();
  }

  private static Duration sum(RecordedEvent event, String... fields) {
    return List.of(fields).stream().map(event::getDuration).reduce(Duration.ZERO, Duration::plus);
  }

  @Test
  void commitEventHasBytesAndTimes() throws Exception {
    try (var recorded = new Recorded("fibry.Commit")) {
      try (var store = (LogStore) FolderStore.open(folder)) {
        append(store, store.load(ADA).life(), 1, true, 1_000);
      }

      var event = recorded.of(folder).getFirst();
      assertEquals("00000001.log", event.getString("segment"));
      assertEquals(1, event.getInt("records"));
      assertTrue(event.getLong("bytes") > 1_000 && event.getLong("bytes") < 1_200, event::toString);
      assertTrue(event.getDuration("sync").isPositive() && event.getDuration("write").isPositive(), event::toString);
      long totalNanos = event.getDuration().toNanos(); // on the clock of the recorder, which may differ by one percent
      assertTrue(sum(event, "write", "sync").toNanos() <= totalNanos + totalNanos / 100 + 100_000, event::toString);
      assertFalse(event.hasField("began") || event.hasField("written"), event::toString);
    }
  }

  @Test
  void commitEventOfStoreWithSyncIntervalHasNoSyncTime() throws Exception {
    try (var recorded = new Recorded("fibry.Commit")) {
      try (var store = (LogStore) FolderStore.open(folder, options -> options.withSyncInterval(Duration.ofHours(1)))) {
        append(store, store.load(ADA).life(), 1, true, 1);
      }

      assertEquals(Duration.ZERO, recorded.of(folder).getFirst().getDuration("sync"));
    }
  }

  record Count() implements Request<Count, Long> {}

  @Test
  void loadEventHasNumberOfTurns() {
    var counter = Durable.kind("read-counter", Count.class)
        .events(Long.class, 0L, (Long sum, Long amount) -> sum + amount).handler((sum, count, context) -> {
          context.persist(1L);
          context.reply(count, sum + 1);
        });
    try (var store = (LogStore) FolderStore.open(folder)) {
      for (int round = 0; round < 2; round++)
        try (var recorded = new Recorded("fibry.Load"); var actor = counter.newActor(ActorSystem.named("c"), store)) {
          for (int i = 1; i <= 10; i++) assertEquals(10 * round + i, actor.ask(new Count()));

          var event = recorded.all().stream().filter(load -> load.getString("kind").equals("read-counter")).findFirst()
              .orElseThrow();
          assertEquals("c", event.getString("key"));
          assertEquals(10 * round, event.getInt("turns"));
          assertEquals(round > 0, event.getLong("bytes") >= 10);
        }
    }
  }

  @Test
  void compactionEventHasFreedBytes() throws Exception {
    try (var recorded = new Recorded("fibry.Compaction")) {
      try (var store = (LogStore) FolderStore.open(folder, options -> options.withSegmentBytes(SEGMENT))) {
        long life = store.load(ADA).life();
        for (int i = 1; Files.exists(folder.resolve("00000001.log")); i++) append(store, life, i, true, 1_000);
      }

      var event = recorded.of(folder).getFirst();
      assertTrue(event.getInt("files") >= 4, event::toString);
      assertEquals((long) event.getInt("files") * SEGMENT, event.getLong("bytesBefore"));
      assertTrue(event.getLong("bytesAfter") < SEGMENT, event::toString);
      assertTrue(event.getString("segment").endsWith(".log"), event::toString);
    }
  }

  @Test
  void refusedFileCreationCausesStoreFullEvent() throws Exception {
    var faulty = newFaultyDisk();
    try (var recorded = new Recorded("fibry.StoreFull"); var logged = new Logged()) {
      try (var store = openStore(faulty)) {
        long life = store.load(ADA).life();
        append(store, life, 1, true, 9_000);
        faulty.awaitFile("00000002.log");
        faulty.fail("create");
        append(store, life, 2, true, 9_000); // fits into the second file, which exists
      }

      var event = recorded.of(folder).getFirst();
      assertEquals("00000003.log", event.getString("segment"));
      assertEquals(SEGMENT, event.getLong("size"));
      assertEquals("java.io.IOException: made up, for a test", event.getString("refusal"));
      assertEquals(1, logged.lines(folder + " could not create 00000003.log, of 16384 bytes").size());
    }
  }

  @Test
  void brokenStoreCausesOneStoreBrokenEvent() throws Exception {
    var faulty = newFaultyDisk();
    try (var recorded = new Recorded("fibry.StoreBroken"); var logged = new Logged()) {
      try (var store = openStore(faulty)) {
        long life = store.load(ADA).life();
        faulty.awaitFile("00000002.log"); // otherwise the sync of this new file would fail
        faulty.fail("sync");
        assertThrows(ExecutionException.class, () -> append(store, life, 1, true, 1));
        assertThrows(ExecutionException.class, () -> append(store, life, 1, true, 1));
        assertTrue(store.health().isBroken());
      }

      var events = recorded.of(folder);
      assertEquals(1, events.size());
      var event = events.getFirst();
      assertEquals("the disk did not confirm that it has the written bytes", event.getString("problem"));
      assertEquals("java.io.IOException: made up, for a test", event.getString("failure"));
      assertEquals(1, logged.lines("a store is broken").size());
    }
  }
}
