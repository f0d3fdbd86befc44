package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
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

/** A copy of a store at work is of one moment. */
class BackupTest {
  private static final int WRITERS = 4;
  private static final UnaryOperator<FolderStore.Options> SMALL = options -> options.withSegmentBytes(1 << 14);
  private static final UnaryOperator<FolderStore.Options> PAUSES =
      options -> SMALL.apply(options).withSyncInterval(Duration.ofDays(1));

  @TempDir
  private Path folder;

  // of each writer: written by it, read by the test
  private final AtomicLongArray given = new AtomicLongArray(WRITERS);
  private final AtomicLongArray told = new AtomicLongArray(WRITERS);

  private static Store.ActorId writer(int number) {
    return new Store.ActorId("writer", "w" + number);
  }

  private static Store.ActorId box(int number) {
    return new Store.ActorId("box", "b" + number);
  }

  private static Store.Turn turn(Store.ActorId actor, long life, long number, List<String> done,
      List<Store.PendingMessage> sends) {
    return new Store.Turn(actor, life, number, Instant.EPOCH, number % 20 == 0, new byte[64], done, sends);
  }

  /** Each turn sends a message to a box, whose turn then does the one before. */
  private void write(Store store, int writer, AtomicBoolean over) throws Exception {
    long life = store.load(writer(writer)).life();
    long ofBox = store.load(box(writer)).life();
    for (long n = 1; !over.get(); n++) {
      given.set(writer, n);
      var message = new Store.PendingMessage(box(writer), "m" + n, Instant.EPOCH, new byte[8]);
      store.append(turn(writer(writer), life, n, List.of(), List.of(message)));
      var done = n == 1 ? List.<String>of() : List.of("m" + (n - 1));
      store.append(turn(box(writer), ofBox, n, done, List.of())).toCompletableFuture().get();
      told.set(writer, n);
    }
  }

  /** Disks by their names. */
  private interface Disks {
    StorageDirectory open(String name) throws IOException;
  }

  private static Disks inMemory() {
    var all = new ConcurrentHashMap<String, StorageDirectory>();
    return name -> all.computeIfAbsent(name, none -> CrashDisk.empty());
  }

  private Disks real() {
    return name -> StorageDirectory.open(folder.resolve(name));
  }

  @Test
  void copyUnderLoadIsConsistentAndComplete() throws Exception {
    copyUnderLoad(inMemory(), 3, SMALL);
  }

  @Test
  void copyWithSyncIntervalIsConsistentAndComplete() throws Exception {
    copyUnderLoad(inMemory(), 3, PAUSES);
  }

  @Test
  @Soak(counterpart = "BackupTest.copyUnderLoadIsConsistentAndComplete")
  void copiesOnRealDiskAreConsistentAndComplete() throws Exception {
    copyUnderLoad(real(), 20, SMALL);
  }

  @Test
  @Soak(counterpart = "BackupTest.copyWithSyncIntervalIsConsistentAndComplete")
  void copiesOnRealDiskWithSyncIntervalAreConsistent() throws Exception {
    copyUnderLoad(real(), 20, PAUSES);
  }

  private void copyUnderLoad(Disks disks, int copies, UnaryOperator<FolderStore.Options> options) throws Exception {
    var over = new AtomicBoolean();
    var data = disks.open("data");
    try (var store = FolderStore.open(data, options); var threads = Executors.newCachedThreadPool()) {
      var tasks = new ArrayList<Future<?>>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        tasks.add(threads.submit(() -> {
          write(store, writer, over);
          return null;
        }));
      }
      try {
        for (int i = 0; i < copies; i++) {
          long until = told.get(0) + 300; // files are rewritten meanwhile
          boolean last = i == copies - 1;
          Patience.progress(() -> told.get(0), () -> tasks.stream().anyMatch(Future::isDone)
              || told.get(0) >= until && !(last && hasFirstFile(data)));
          long[] least = LongStream.range(0, WRITERS).map(writer -> told.get((int) writer)).toArray();
          try (var copy = disks.open("copy" + i)) {
            store.backup(copy);
            assertTrue(SalvagePlan.of(copy).isWhole());
            if (last) assertFalse(hasFirstFile(copy)); // files have been rewritten
          }
          check(disks.open("copy" + i), least);
        }
      } finally {
        over.set(true);
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

  private void check(StorageDirectory copy, long[] least) {
    try (var store = FolderStore.open(copy, SMALL)) {
      assertEquals(List.of(), store.health().tornFiles());
      for (int i = 0; i < WRITERS; i++) {
        long writer = store.load(writer(i)).lastTurn();
        long box = store.load(box(i)).lastTurn();
        assertTrue(least[i] <= writer && writer <= given.get(i), least[i] + " " + writer + " " + given.get(i));
        assertTrue(least[i] <= box, least[i] + " " + box);
        assertEquals(LongStream.rangeClosed(Math.max(1, box), writer).mapToObj(n -> "m" + n).toList(),
            store.load(box(i)).pendingIds());
      }
    }
  }

  @Test
  void aCopyThatWasInterruptedIsNoStore() throws Exception {
    try (var store = FolderStore.open(folder.resolve("data"), SMALL)) {
      long life = store.load(writer(0)).life();
      for (int n = 1; n < 200; n++)
        store.append(turn(writer(0), life, n, List.of(), List.of())).toCompletableFuture().get();
      var half = StorageDirectory.open(folder.resolve("half"));
      var renamed = new AtomicInteger();
      var failing = Intercepted.of(StorageDirectory.class, half, (method, arguments, call) -> {
        if (method.getName().equals("rename") && renamed.incrementAndGet() == 3)
          throw new IOException("made up, for a test");
        return call.pass();
      });

      assertThrows(UncheckedIOException.class, () -> store.backup(failing));
      half.close();

      var refused = assertThrows(StoreDamagedException.class, () -> FolderStore.open(folder.resolve("half")));
      assertEquals(folder.resolve("half") + " has a copy that was not finished; empty the folder, and copy again",
          refused.getMessage());
      assertThrows(IllegalArgumentException.class, () -> store.backup(folder.resolve("half")));
      store.backup(folder.resolve("whole")); // the store continues
      assertTrue(FolderStore.check(folder.resolve("whole")).isWhole());
    }
  }

  @Test
  void aCloseEndsACopy() throws Exception {
    var faulty = new FaultyDisk(folder.resolve("data"));
    var store = FolderStore.open(faulty.disk(), SMALL);
    long life = store.load(writer(0)).life();
    for (int n = 1; n < 400; n++)
      store.append(turn(writer(0), life, n, List.of(), List.of())).toCompletableFuture().get();
    try (var threads = Executors.newCachedThreadPool()) {
      faulty.hold("read");
      var copying = threads.submit(() -> store.backup(folder.resolve("copy")));
      faulty.awaitHeld();
      var closing = threads.submit(store::close);
      Patience.eventually(() -> !isOpen(store));
      faulty.cleanUp();

      Patience.value(closing);
      assertEquals(StoreClosedException.class, Patience.failure(copying).getClass());
    }
  }

  private static boolean isOpen(FolderStore store) {
    try {
      store.dueTime(box(0), "none");
      return true;
    } catch (StoreClosedException closed) {
      return false;
    }
  }
}
