package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;

import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.spi.StoreBackend;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Tests that stores refuse invalid arguments, with the expected exception texts. */
class BadStoreInputTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

  @TempDir
  private Path folder;

  private LogStore open() {
    return (LogStore) FolderStore.open(folder, options -> options.withSegmentBytes(1 << 18));
  }

  private static String refusal(Executable code) {
    return assertThrowsExactly(IllegalArgumentException.class, code).getMessage();
  }

  private static String nullText(Executable code) {
    return assertThrowsExactly(NullPointerException.class, code).getMessage();
  }

  private static StoreBackend.PendingMessage message(String id) {
    return new StoreBackend.PendingMessage(ADA, id, Instant.EPOCH, new byte[1]);
  }

  private static StoreBackend.Turn turn(long life, long number) {
    return new StoreBackend.Turn(ADA, life, number, Instant.EPOCH, false, new byte[1], List.of(), List.of());
  }

  // ---- options

  @Test
  void invalidOptionsAreRefused() {
    for (int bytes : new int[] {0, -1, Integer.MIN_VALUE, 4095, (1 << 30) + 1, Integer.MAX_VALUE})
      assertEquals("a segment of " + bytes + " bytes; give 4096 to 1073741824",
          refusal(() -> FolderStore.open(folder, options -> options.withSegmentBytes(bytes))));
    for (int bytes : new int[] {0, -1, Integer.MIN_VALUE, 4095})
      assertEquals("max pending bytes of " + bytes + " are too few for a store; give 4096 or more",
          refusal(() -> FolderStore.open(folder, options -> options.withMaxPendingBytes(bytes))));
    assertEquals("a sync interval of -1 ns; give zero or more",
        refusal(() -> FolderStore.open(folder, options -> options.withSyncInterval(Duration.ofNanos(-1)))));
  }

  @Test
  void syncIntervalMayBeForever() throws Exception {
    try (
        var store = (LogStore) FolderStore.open(folder,
            options -> options.withSegmentBytes(1 << 14).withSyncInterval(FOR_EVER))) {
      store.append(turn(store.load(ADA).life(), 1)).toCompletableFuture().get();
    }
    try (var store = open()) {
      assertEquals(1, store.load(ADA).lastTurn());
    }
  }

  @Test
  void failedOpenReleasesFolder() {
    assertThrowsExactly(AssertionError.class, () -> FolderStore.open(folder, options -> {
      throw new AssertionError("made up, for a test");
    }));

    open().close();
  }

  // ---- stored data

  @Test
  void tooLongMessageIdIsRefused() throws Exception {
    String tooLong = "x".repeat(65_536);
    try (var store = open()) {
      assertEquals("the kind or key of an actor, or the id of a message, takes 65536 bytes; at most 65535 are possible",
          refusal(() -> store.enqueue(message(tooLong), 9)));
      store.enqueue(message(tooLong.substring(1)), 9).toCompletableFuture().get();
    }

    try (var store = open()) {
      assertEquals(65_535, store.pending(ADA, Instant.EPOCH, 9).getFirst().id().length());
    }
  }

  @Test
  void dueTimeOutOfRangeIsRefused() {
    assertEquals("a message for account 'ada' is due at +1000000000-12-31T23:59:59.999999999Z; stores know "
        + "milliseconds, from -292275055-05-16T16:47:04.192Z to +292278994-08-17T07:12:55.807Z",
        refusal(() -> new StoreBackend.PendingMessage(ADA, "m", Instant.MAX, new byte[0])));
  }

  @Test
  void invalidOffsetIsReportedInOneLine() {
    try (var store = open(); var memory = StoreBackend.of(MemoryStore.open())) {
      assertEquals("'a\\nb' is no offset in the history of account", refusal(() -> store.history("account", "a\nb")));
      assertEquals("'a\\nb' is no offset in the history of a store in memory",
          refusal(() -> memory.history("account", "a\nb")));
    }
  }

  @Test
  void turnsWithHugeRetentionAreRetained() throws Exception {
    try (var store = open(); var memory = StoreBackend.of(MemoryStore.open())) {
      for (var testStore : List.of(store, memory)) {
        long life = testStore.load(ADA).life();
        testStore.setRetention("account", Duration.ofDays(365_000_000));
        testStore.append(turn(life, 1)).toCompletableFuture().get();
        testStore.snapshot(new StoreBackend.Turn(ADA, life, 1, Instant.EPOCH, true, new byte[1], List.of(), List.of()));

        assertEquals(1, testStore.history("account", "").poll().size());
      }
    }
  }

  @Test
  void failNextOfMemoryStoreRefusesNegativeNumber() {
    assertEquals("-1 writes cannot be refused; give zero or more", refusal(() -> MemoryStore.open().failNext(-1)));
  }

  @Test
  void turnWithTooManyMessagesIsRefused() {
    try (var store = open()) {
      var turn = new StoreBackend.Turn(ADA, store.load(ADA).life(), 1, Instant.EPOCH, false, new byte[1],
          Collections.nCopies(65_536, "m"), List.of());

      assertEquals("a turn of account 'ada' handles or sends 65536 messages; at most 65535 are possible",
          refusal(() -> store.append(turn)));
    }
  }

  @Test
  void logFileWithForeignBytesIsReportedAsDamage() throws Exception {
    try (var store = (LogStore) FolderStore.open(folder, options -> options.withSegmentBytes(4096))) {
      long life = store.load(ADA).life();
      for (int i = 1; i <= 6; i++) store.append(turn(life, i)).toCompletableFuture().get();
    }
    var file = folder.resolve("00000001.log");
    var random = new Random(47);
    for (int length : new int[] {0, 1, 31, 32, 33, 100, 4095, 4096, 4097, 9000}) {
      byte[] bytes = new byte[length];
      for (int round = 0; round < 4; round++) {
        Files.write(file, bytes);
        assertThrowsExactly(StoreDamagedException.class, this::open, length + " bytes, round " + round);
        FolderStore.check(folder); // must not throw
        random.nextBytes(bytes); // the first round wrote zeros
      }
    }
  }

  // ---- closed stores

  @Test
  void exceptionOfClosedStoreNamesItsFolder() {
    var store = open();
    long life = store.load(ADA).life();
    store.close();
    var append = store.append(turn(life, 1)).toCompletableFuture();
    String text = "the store in " + folder + " is closed";

    assertEquals(text, assertThrowsExactly(StoreClosedException.class, () -> store.load(ADA)).getMessage());
    assertEquals(text, assertThrowsExactly(ExecutionException.class, append::get).getCause().getMessage());
  }

  // ---- null

  @Test
  void exceptionNamesNullArgument() {
    assertEquals("folder", nullText(() -> FolderStore.open(null)));
    assertEquals("options", nullText(() -> FolderStore.open(folder, null)));
    assertEquals("the result of options", nullText(() -> FolderStore.open(folder, options -> null)));
    assertEquals("syncInterval", nullText(() -> FolderStore.open(folder, options -> options.withSyncInterval(null))));
    assertEquals("clock", nullText(() -> FolderStore.open(folder, options -> options.withClock(null))));
    assertEquals("disk", nullText(() -> FolderStore.open((StorageDirectory) null, options -> options)));
    assertEquals("folder", nullText(() -> FolderStore.check(null)));
    assertEquals("folder", nullText(() -> FolderStore.salvage(null, folder)));
    assertEquals("to", nullText(() -> FolderStore.salvage(folder, null)));
    assertEquals("clock", nullText(() -> MemoryStore.open(null)));
    assertEquals("kind", nullText(() -> new Store.ActorId(null, "ada")));
    assertEquals("key", nullText(() -> new Store.ActorId("account", null)));
    assertEquals("due", nullText(() -> new StoreBackend.PendingMessage(ADA, "m", null, new byte[0])));
    assertEquals("at", nullText(() -> new StoreBackend.Turn(ADA, 1, 1, null, true, new byte[0], List.of(), List.of())));
  }

  @Test
  void methodsOfStoreRefuseNullArguments() {
    try (var store = open(); var memory = StoreBackend.of(MemoryStore.open())) {
      assertEquals("folder", nullText(() -> store.backup((Path) null)));
      assertEquals("to", nullText(() -> store.backup((StorageDirectory) null)));
      for (var testStore : List.of(store, memory)) {
        for (Executable code : List.<Executable>of(() -> testStore.load(null), () -> testStore.beginLife(null, 0),
            () -> testStore.append(null), () -> testStore.snapshot(null), () -> testStore.enqueue(null, 1),
            () -> testStore.pending(null, Instant.EPOCH, 1), () -> testStore.dueTime(null, "m"),
            () -> testStore.history("account", null)))
          assertNotNull(nullText(code));
        assertEquals("after", nullText(() -> testStore.nextDueTime(ADA, null)));
        assertEquals("reader", nullText(() -> testStore.forEachActor(null)));
        assertEquals("kind", nullText(() -> testStore.history(null, "")));
        assertEquals("kind", nullText(() -> testStore.setRetention(null, FOR_EVER)));
        assertEquals("age", nullText(() -> testStore.setRetention("account", null)));
        assertEquals("to", nullText(() -> testStore.copyTo(null)));
        assertEquals("progress", nullText(() -> testStore.copyTo(MemoryStore.open(), null)));
      }
      assertEquals(0, memory.load(ADA).lastTurn());
    }
  }
}
