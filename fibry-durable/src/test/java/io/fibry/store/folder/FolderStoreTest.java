package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreInUseException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Child;
import io.fibry.support.Intercepted;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderStoreTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final Store.ActorId GRACE = new Store.ActorId("account", "Grace's 2nd, \u00e4\u4e2d");

  @TempDir
  private Path folder;

  private LogStore open() {
    return (LogStore) FolderStore.open(folder, options -> options.withSegmentBytes(1 << 14));
  }

  private static StoreBackend.Turn turn(Store.ActorId id, long life, long number, boolean isFullState, byte[] body) {
    return new StoreBackend.Turn(id, life, number, Instant.now(), isFullState, body, List.of(), List.of());
  }

  private static void append(StoreBackend store, StoreBackend.Turn turn) throws Exception {
    store.append(turn).toCompletableFuture().get();
  }

  @Test
  void reopenedStoreReturnsAppendedTurns() throws Exception {
    byte[] largeBody = new byte[9_000];
    new Random(1).nextBytes(largeBody);
    try (var store = open()) {
      long adaLife = store.load(ADA).life();
      long graceLife = store.load(GRACE).life();
      append(store, turn(ADA, adaLife, 1, false, new byte[] {1}));
      append(store, turn(GRACE, graceLife, 1, true, new byte[0]));
      append(store, turn(ADA, adaLife, 2, false, largeBody));
      append(store, turn(GRACE, graceLife, 2, true, new byte[] {7}));
    }

    try (var store = open()) {
      assertEquals(2, store.load(ADA).lastTurn());
      assertArrayEquals(largeBody, store.load(ADA).bodies().get(1));
      assertArrayEquals(new byte[] {7}, store.load(GRACE).bodies().getFirst());
      assertEquals(1, store.load(GRACE).bodies().size());
      assertEquals(2, store.health().actors());
      assertEquals(List.of(), store.health().tornFiles());
    }
  }

  @Test
  void storeContinuesInNextSegmentWhenLogFileIsFull() throws Exception {
    try (var store = open()) {
      long life = store.load(ADA).life();
      for (int i = 1; i <= 300; i++) append(store, turn(ADA, life, i, false, new byte[i]));
    }

    try (var store = open(); var files = Files.list(folder)) {
      assertTrue(files.filter(file -> file.toString().endsWith(".log")).count() > 3);
      var bodies = store.load(ADA).bodies();
      for (int i = 1; i <= 300; i++) assertEquals(i, bodies.get(i - 1).length);
    }
  }

  @Test
  void twoStoresCannotShareFolder() {
    var store = open();
    try (store) {
      var failure = assertThrows(StoreInUseException.class, this::open);

      assertEquals(folder + " is in use by this process"
          + "; close that store first: two writers would destroy it", failure.getMessage());
    }
    open().close();
  }

  @Test
  void storeWritesThroughCustomStorageDirectory() throws Exception {
    var syncs = new AtomicInteger();
    var files = StorageDirectory.open(folder);
    var counting = Intercepted.of(StorageDirectory.class, files, (method, arguments, call) -> {
      if (method.getName().equals("sync")) syncs.incrementAndGet();
      return call.pass();
    });
    try (var store = (LogStore) FolderStore.open(counting, options -> options.withSegmentBytes(1 << 14))) {
      assertThrows(StoreInUseException.class, () -> StorageDirectory.open(folder));
      long life = store.load(ADA).life();
      int syncsBefore = syncs.get();

      append(store, turn(ADA, life, 1, true, new byte[] {1}));

      assertTrue(syncs.get() > syncsBefore);
    }

    try (var store = open()) {
      assertEquals(1, store.load(ADA).lastTurn());
    }
  }

  /** Prints whether it could open the folder. */
  static final class Opener {
    public static void main(String[] args) {
      try (var store = (LogStore) FolderStore.open(Path.of(args[0]))) {
        System.out.println("opened " + store);
      } catch (StoreInUseException failure) {
        System.out.println(failure.getMessage());
      }
    }
  }

  @Test
  void twoProcessesCannotShareFolder() throws Exception {
    var store = open();
    try (store) {
      assertThrows(StoreInUseException.class, this::open); // a failed open must not release the lock

      try (var child = Child.java(List.of(), Opener.class, folder.toString())) {
        child.awaitLine(folder + " is in use by process " + ProcessHandle.current().pid()
            + "; close that store first: two writers would destroy it");
        child.awaitExit(0);
      }
    }
  }

  @Test
  void storeWithSmallerSegmentsReadsLargerRecords() throws Exception {
    try (var store = (LogStore) FolderStore.open(folder)) {
      append(store, turn(ADA, store.load(ADA).life(), 1, false, new byte[1 << 20]));
    }
    try (var store =
        (LogStore) FolderStore.open(folder, options -> options.withSegmentBytes(1 << 16).withMaxPendingBytes(4096))) {
      assertEquals(1 << 20, store.load(ADA).bodies().getFirst().length);
    }
  }

  @Test
  void loadFailsOnlyForActorWithDamagedTurn() throws Exception {
    try (var store = open()) {
      long adaLife = store.load(ADA).life();
      append(store, turn(ADA, adaLife, 1, false, "of Ada".getBytes()));
      append(store, turn(GRACE, store.load(GRACE).life(), 1, false, "of Grace".getBytes()));
      var log = folder.resolve("00000001.log");
      byte[] bytes = Files.readAllBytes(log);
      bytes[new String(bytes, StandardCharsets.ISO_8859_1).indexOf("of Ada")] ^= 1;
      Files.write(log, bytes);

      var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));

      assertEquals("the store in " + folder
          + ": 00000001.log is damaged at 76, where a turn of account 'ada', or a message for it, was. "
          + "Other actors are not affected; restore the file from a backup", failure.getMessage());
      assertEquals(1, store.load(GRACE).bodies().size());
    }
  }

  @Test
  void tooLargeTurnIsRefusedAtOnce() {
    try (var store = open()) {
      long life = store.load(ADA).life();

      var failure = assertThrows(IllegalArgumentException.class,
          () -> store.append(turn(ADA, life, 1, false, new byte[1 << 14])));

      assertTrue(failure.getMessage().startsWith("a turn of account 'ada' takes 16"), failure.getMessage());
    }
  }

  @Test
  void closedStoreRefusesCalls() {
    var store = open();
    long life = store.load(ADA).life();
    store.close();
    store.close();

    assertThrows(StoreClosedException.class, () -> store.load(ADA));
    var append = store.append(turn(ADA, life, 1, false, new byte[1])).toCompletableFuture();
    assertInstanceOf(StoreClosedException.class, assertThrows(ExecutionException.class, append::get).getCause());
  }

  @Test
  void interruptFailsNeitherLoadNorAppend() throws Exception {
    try (var store = open()) {
      long life = store.load(ADA).life();
      append(store, turn(ADA, life, 1, false, new byte[] {1}));

      Thread.currentThread().interrupt();
      assertEquals(1, store.load(ADA).lastTurn());
      var second = store.append(turn(ADA, store.load(ADA).life(), 2, false, new byte[] {2})).toCompletableFuture();
      assertTrue(Thread.interrupted());

      second.get();
      assertEquals(2, store.load(ADA).lastTurn());
    }
  }

  @Test
  void folderThatCannotBeCreatedIsReported() throws Exception {
    var file = Files.createFile(folder.resolve("file"));

    var failure = assertThrows(UncheckedIOException.class, () -> FolderStore.open(file));

    assertTrue(failure.getMessage().startsWith(file + " cannot be opened as a store: "), failure.getMessage());
  }

  @Test
  void invalidOptionsAreRefused() {
    assertThrows(IllegalArgumentException.class,
        () -> FolderStore.open(folder, options -> options.withSegmentBytes(100)));
    assertThrows(IllegalArgumentException.class,
        () -> FolderStore.open(folder, options -> options.withMaxPendingBytes(0)));
    assertThrows(IllegalArgumentException.class,
        () -> FolderStore.open(folder, options -> options.withSyncInterval(Duration.ofSeconds(-1))));
  }

  @Test
  void closeStoresTurnsDespiteLongSyncInterval() throws Exception {
    try (var store = (LogStore) FolderStore.open(folder, options -> options.withSyncInterval(Duration.ofHours(1)))) {
      append(store, turn(ADA, store.load(ADA).life(), 1, false, new byte[] {1}));
    }
    try (var store = (LogStore) FolderStore.open(folder)) {
      assertEquals(1, store.load(ADA).lastTurn());
    }
  }
}
