package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreFullException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the health that a store reports is correct. */
class HealthTest {
  private static final int SEGMENT = 1 << 14;
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final Store.ActorId GRACE = new Store.ActorId("account", "grace");
  private static final Instant FAR_FUTURE = Instant.parse("9999-12-31T00:00:00Z");

  @TempDir
  private Path folder;

  private LogStore open() {
    return (LogStore) FolderStore.open(folder, options -> options.withSegmentBytes(SEGMENT));
  }

  private long bytes() throws IOException {
    try (var files = Files.list(folder)) {
      return files.filter(file -> !file.endsWith("store.lock")).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  private static CompletableFuture<Void> append(StoreBackend store, Store.ActorId actor, long life, long number,
      int size,
      StoreBackend.PendingMessage... sends) {
    return store.append(new StoreBackend.Turn(actor, life, number, Instant.EPOCH, true, new byte[size], List.of(),
        List.of(sends))).toCompletableFuture();
  }

  private static StoreBackend.PendingMessage message(Store.ActorId to, String id, Instant due) {
    return new StoreBackend.PendingMessage(to, id, due, new byte[1]);
  }

  @Test
  void healthCountsStoredTurnsAndPendingMessages() throws Exception {
    try (var store = open()) {
      long life = store.load(ADA).life();
      append(store, ADA, life, 1, 1, message(GRACE, "m", Instant.EPOCH), message(ADA, "r", FAR_FUTURE)).get();
      append(store, ADA, life, 2, 1, message(ADA, "x", StoreBackend.PendingMessage.NEVER)).get();
      store.enqueue(message(GRACE, "n", Instant.EPOCH), 10).toCompletableFuture().get();

      var health = store.health();

      assertEquals(2, health.turns());
      assertEquals(0, health.refusedTurns());
      assertEquals(0, health.pendingWrites());
      assertEquals(1, health.actors());
      assertEquals(3, health.pendingMessages());
      assertEquals(2, health.dueMessages()); // not the reminder, nor the parked message
      assertEquals(1, health.parkedMessages());
      assertFalse(health.isFull() || health.isBroken());
    }
    try (var store = open()) {
      assertEquals(0, store.health().turns());
      assertEquals(1, store.health().actors());
      assertEquals(3, store.health().pendingMessages());
      assertEquals(2, store.health().dueMessages());
      assertEquals(1, store.health().parkedMessages());
    }
  }

  @Test
  void healthReportsSyncTimes() throws Exception {
    try (var store = open()) {
      assertEquals(new FolderStore.Syncs(0, Duration.ZERO, Duration.ZERO), store.health().syncs());
      long life = store.load(ADA).life();
      for (int i = 1; i <= 3; i++) append(store, ADA, life, i, 1).get();

      var syncs = store.health().syncs();

      assertEquals(3, syncs.count());
      assertTrue(syncs.last().isPositive(), syncs::toString);
      assertTrue(syncs.total().compareTo(syncs.last()) > 0, syncs::toString);
    }
  }

  @Test
  void healthReportsFileBytes() throws Exception {
    var store = open();
    try (store) {
      long life = store.load(ADA).life();
      var firstFile = folder.resolve("00000001.log"); // exists until it is rewritten
      for (int i = 1; i <= 100 || Files.exists(firstFile); i++) append(store, ADA, life, i, 1_000).get();
    }
    assertEquals(bytes(), store.health().bytes());

    Files.write(folder.resolve("a.torn"), new byte[100]); // a file of an earlier run
    try (var reopened = open()) {
      assertEquals(bytes(), reopened.health().bytes());
    }
  }

  @Test
  void healthCountsPendingWrites() throws Exception {
    var faulty = new FaultyDisk(folder);
    try (var store = (LogStore) FolderStore.open(faulty.disk(), options -> options.withSegmentBytes(SEGMENT))) {
      long life = store.load(ADA).life();
      append(store, ADA, life, 1, 1).get();
      faulty.awaitFile("00000002.log");
      faulty.hold("sync");

      try {
        append(store, ADA, life, 2, 1);
        faulty.awaitHeld();
        append(store, ADA, life, 3, 1);
        store.enqueue(message(GRACE, "m", Instant.EPOCH), 10);

        assertEquals(3, store.health().pendingWrites());
        assertEquals(1, store.health().turns());
      } finally {
        faulty.release();
      }
    }
  }

  @Test
  void fullStoreRefusesNewActorsBeforeExistingActors() throws Exception {
    var faulty = new FaultyDisk(folder);
    try (var store = (LogStore) FolderStore.open(faulty.disk(), options -> options.withSegmentBytes(SEGMENT));
        var logged = new Logged()) {
      long ada = store.load(ADA).life();
      long grace = store.load(GRACE).life();
      append(store, ADA, ada, 1, 9_000).get();
      faulty.awaitFile("00000002.log");
      faulty.fail("create");
      append(store, ADA, ada, 2, 9_000).get(); // begins the second file; a third file cannot be created
      Patience.eventually(() -> store.health().isFull());

      var messageFailure = refusal(store.enqueue(message(ADA, "m", Instant.EPOCH), 10).toCompletableFuture());
      var actorFailure = refusal(append(store, GRACE, grace, 1, 1));
      append(store, ADA, ada, 3, 1).get(); // an existing actor continues
      var turnFailure = refusal(append(store, ADA, ada, 4, 9_000));

      assertEquals("a message for account 'ada' is not stored: " + folder + " has no space for another file, of 16384 "
          + "bytes. Nothing is lost; free some space, and the store continues", messageFailure);
      assertTrue(actorFailure.startsWith("the first turn of account 'grace' is not stored: "), actorFailure);
      assertTrue(turnFailure.startsWith(folder + ": no space for 00000003.log, of 16384 bytes."), turnFailure);
      assertEquals(3, store.health().refusedTurns());
      assertEquals(3, store.health().turns());

      faulty.heal();
      Patience.eventually(() -> !store.health().isFull()); // although no write is pending

      append(store, GRACE, store.load(GRACE).life(), 1, 9_000).get();
      assertEquals(1, logged.lines(folder + " could not create 00000003.log").size());
      assertEquals(1, logged.lines(folder + " can create files again").size());
    }
  }

  private static String refusal(CompletableFuture<?> future) {
    return assertInstanceOf(StoreFullException.class, assertThrows(ExecutionException.class, future::get).getCause())
        .getMessage();
  }
}
