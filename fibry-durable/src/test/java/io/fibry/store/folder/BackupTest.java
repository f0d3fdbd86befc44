package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.repair.SalvagePlan;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a backup of a store in use has the content of the store at one moment. */
class BackupTest {
  private static final int WRITERS = 4;
  private static final UnaryOperator<FolderStore.Options> SMALL = options -> options.withSegmentBytes(1 << 14);
  private static final UnaryOperator<FolderStore.Options> LONG_SYNC_INTERVAL =
      options -> SMALL.apply(options).withSyncInterval(Duration.ofDays(1));

  @TempDir
  private Path folder;

  // number of the last turn of each writer; set by the writer, read by the test
  private final AtomicLongArray lastSubmitted = new AtomicLongArray(WRITERS);
  private final AtomicLongArray lastStored = new AtomicLongArray(WRITERS);

  private static Store.ActorId writer(int number) {
    return new Store.ActorId("writer", "w" + number);
  }

  private static Store.ActorId box(int number) {
    return new Store.ActorId("box", "b" + number);
  }

  private static StoreBackend.Turn turn(Store.ActorId actor, long life, long number, List<String> handled,
      List<StoreBackend.PendingMessage> sends) {
    return new StoreBackend.Turn(actor, life, number, Instant.EPOCH, number % 20 == 0, new byte[64], handled, sends);
  }

  /**
   * Turn n of the writer sends message n to its box, and turn n of the box handles message n - 1.
   */
  private void write(StoreBackend store, int writer, AtomicBoolean stop) throws Exception {
    long life = store.load(writer(writer)).life();
    long boxLife = store.load(box(writer)).life();
    for (long n = 1; !stop.get(); n++) {
      lastSubmitted.set(writer, n);
      var message = new StoreBackend.PendingMessage(box(writer), "m" + n, Instant.EPOCH, new byte[8]);
      store.append(turn(writer(writer), life, n, List.of(), List.of(message)));
      var handled = n == 1 ? List.<String>of() : List.of("m" + (n - 1));
      store.append(turn(box(writer), boxLife, n, handled, List.of())).toCompletableFuture().get();
      lastStored.set(writer, n);
    }
  }

  /** Opens disks by name. */
  private interface Disks {
    StorageDirectory open(String name) throws IOException;
  }

  private static Disks inMemory() {
    var disks = new ConcurrentHashMap<String, StorageDirectory>();
    return name -> disks.computeIfAbsent(name, k -> CrashDisk.empty());
  }

  private Disks onDisk() {
    return name -> StorageDirectory.open(folder.resolve(name));
  }

  @Test
  void backupUnderLoadIsConsistentAndComplete() throws Exception {
    copyUnderLoad(inMemory(), 3, SMALL);
  }

  @Test
  void backupOfStoreWithSyncIntervalIsConsistentAndComplete() throws Exception {
    copyUnderLoad(inMemory(), 3, LONG_SYNC_INTERVAL);
  }

  @Test
  @Soak(counterpart = "BackupTest.backupUnderLoadIsConsistentAndComplete")
  void backupsOnRealDiskAreConsistentAndComplete() throws Exception {
    copyUnderLoad(onDisk(), 20, SMALL);
  }

  @Test
  @Soak(counterpart = "BackupTest.backupOfStoreWithSyncIntervalIsConsistentAndComplete")
  void backupsOnRealDiskWithSyncIntervalAreConsistent() throws Exception {
    copyUnderLoad(onDisk(), 20, LONG_SYNC_INTERVAL);
  }

  private void copyUnderLoad(Disks disks, int copies, UnaryOperator<FolderStore.Options> options) throws Exception {
    var stop = new AtomicBoolean();
    var data = disks.open("data");
    try (var store = (LogStore) FolderStore.open(data, options); var threads = Executors.newCachedThreadPool()) {
      var tasks = new ArrayList<Future<?>>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        tasks.add(threads.submit(() -> {
          write(store, writer, stop);
          return null;
        }));
      }
      try {
        for (int i = 0; i < copies; i++) {
          long target = lastStored.get(0) + 300; // enough turns for files to be rewritten
          boolean isLast = i == copies - 1;
          Patience.progress(() -> lastStored.get(0), () -> tasks.stream().anyMatch(Future::isDone)
              || lastStored.get(0) >= target && !(isLast && hasFirstFile(data)));
          long[] minTurns = LongStream.range(0, WRITERS).map(writer -> lastStored.get((int) writer)).toArray();
          try (var copy = disks.open("copy" + i)) {
            store.backup(copy);
            assertTrue(SalvagePlan.of(copy).isWhole());
            if (isLast) assertFalse(hasFirstFile(copy)); // the first file has been rewritten
          }
          assertCopyIsComplete(disks.open("copy" + i), minTurns);
        }
      } finally {
        stop.set(true);
      }
      tasks.forEach(Patience::value);
    }
  }

  private static boolean hasFirstFile(StorageDirectory disk) {
    try {
      return disk.names().contains("00000001.log");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void assertCopyIsComplete(StorageDirectory copy, long[] minTurns) {
    try (var store = (LogStore) FolderStore.open(copy, SMALL)) {
      assertEquals(List.of(), store.health().tornFiles());
      for (int i = 0; i < WRITERS; i++) {
        long writer = store.load(writer(i)).lastTurn();
        long box = store.load(box(i)).lastTurn();
        assertTrue(minTurns[i] <= writer && writer <= lastSubmitted.get(i),
            "stored before: " + minTurns[i] + ", in the backup: " + writer + ", submitted: " + lastSubmitted.get(i));
        assertTrue(minTurns[i] <= box, "stored before: " + minTurns[i] + ", in the backup: " + box);
        assertEquals(LongStream.rangeClosed(Math.max(1, box), writer).mapToObj(n -> "m" + n).toList(),
            store.load(box(i)).pendingIds());
      }
    }
  }

  @Test
  void unfinishedBackupCannotBeOpened() throws Exception {
    try (var store = (LogStore) FolderStore.open(folder.resolve("data"), SMALL)) {
      long life = store.load(writer(0)).life();
      for (int n = 1; n < 200; n++)
        store.append(turn(writer(0), life, n, List.of(), List.of())).toCompletableFuture().get();
      var unfinished = StorageDirectory.open(folder.resolve("half"));
      var renames = new AtomicInteger();
      var failingDisk = Intercepted.of(StorageDirectory.class, unfinished, (method, arguments, call) -> {
        if (method.getName().equals("rename") && renames.incrementAndGet() == 3)
          throw new IOException("made up, for a test");
        return call.pass();
      });

      assertThrows(UncheckedIOException.class, () -> store.backup(failingDisk));
      unfinished.close();

      var failure = assertThrows(StoreDamagedException.class, () -> FolderStore.open(folder.resolve("half")));
      assertEquals(folder.resolve("half") + " has a copy that was not finished; empty the folder, and copy again",
          failure.getMessage());
      assertThrows(IllegalArgumentException.class, () -> store.backup(folder.resolve("half")));
      store.backup(folder.resolve("whole")); // the store can still be used
      assertTrue(FolderStore.check(folder.resolve("whole")).isWhole());
    }
  }

  @Test
  void closeOfStoreFailsRunningBackup() throws Exception {
    var faulty = new FaultyDisk(folder.resolve("data"));
    var store = (LogStore) FolderStore.open(faulty.disk(), SMALL);
    long life = store.load(writer(0)).life();
    for (int n = 1; n < 400; n++)
      store.append(turn(writer(0), life, n, List.of(), List.of())).toCompletableFuture().get();
    try (var threads = Executors.newCachedThreadPool()) {
      faulty.hold("read");
      try {
        var backup = threads.submit(() -> store.backup(folder.resolve("copy")));
        faulty.awaitHeld();
        var close = threads.submit(store::close);
        Patience.eventually(() -> !isOpen(store));
        faulty.release();

        Patience.value(close);
        assertEquals(StoreClosedException.class, Patience.failure(backup).getClass());
      } finally {
        faulty.release();
      }
    }
  }

  private static boolean isOpen(LogStore store) {
    try {
      store.dueTime(box(0), "none");
      return true;
    } catch (StoreClosedException closed) {
      return false;
    }
  }
}
