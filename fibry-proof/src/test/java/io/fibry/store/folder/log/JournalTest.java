package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.RequestOutcome;
import io.fibry.store.StoreBrokenException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.FileDisk;
import io.fibry.support.Patience;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the log writer: one thread that writes the entries of many senders. */
class JournalTest {
  private static final int SEGMENT = 1 << 16;
  private static final int MAX_BYTES = 1 << 20;
  private static final long DAY = 86_400_000_000_000L; // ns

  /** An entry of the log; its future completes when the entry is stored or refused. */
  private static final class TestEntry implements LogWriter.LogEntry {
    private final ByteBuffer record;
    private final CompletableFuture<Void> stored = new CompletableFuture<>();

    TestEntry(String text) {
      record = ByteBuffer.wrap(text.getBytes());
    }

    @Override
    public ByteBuffer record() {
      return record;
    }

    @Override
    public StoreException refusal() {
      return null;
    }

    @Override
    public void onStored(int segment, int offset) {
      stored.complete(null);
    }

    @Override
    public void onRefused(StoreException failure) {
      stored.completeExceptionally(failure);
    }

    StoreException failure() {
      return assertInstanceOf(StoreException.class, assertThrows(ExecutionException.class, stored::get).getCause());
    }
  }

  private final AtomicLong nanos = new AtomicLong();

  private LogWriter open(StorageDirectory disk, List<String> records) throws IOException {
    return open(disk, DAY, records);
  }

  private LogWriter open(StorageDirectory disk, long idleTime, List<String> records) throws IOException {
    return LogWriter.open(TextLog.open(disk, SEGMENT, nanos::get, records), System::currentTimeMillis, 0, idleTime,
        MAX_BYTES);
  }

  private static TestEntry add(LogWriter journal, String text) throws InterruptedException {
    var entry = new TestEntry(text);
    journal.add(entry);
    return entry;
  }

  @Test
  void entriesOfManySendersKeepOrderOfEachSender(@TempDir Path folder) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("journal: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    int senders = 50;
    int entriesPerSender = 400;

    try (var disk = FileDisk.open(folder)) {
      var journal = open(disk, new ArrayList<>());
      var ends = new ArrayList<Future<Void>>();
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < senders; i++) {
          int sender = i;
          var senderRandom = random.split();
          ends.add(threads.submit(() -> send(journal, sender, entriesPerSender, senderRandom)));
        }
      }
      ends.forEach(Patience::value);
      journal.close();
    }

    var records = new ArrayList<String>();
    try (var disk = FileDisk.open(folder)) {
      open(disk, records).close();
    }
    assertEquals(senders * entriesPerSender, records.size(), "seed " + seed);
    int[] expectedNumbers = new int[senders];
    for (var text : records) {
      var parts = text.split(":");
      assertEquals(expectedNumbers[Integer.parseInt(parts[0])]++, Integer.parseInt(parts[1]), "seed " + seed);
    }
  }

  private static Void send(LogWriter journal, int sender, int count, SplittableRandom random) throws Exception {
    for (int k = 0; k < count; k++) {
      var entry = add(journal, sender + ":" + k + ":" + "x".repeat(random.nextInt(100)));
      if (random.nextInt(10) == 0) entry.stored.get();
    }
    return null;
  }

  @Test
  void entriesAddedDuringSyncAreStoredWithNextSync() throws Exception {
    var disk = CrashDisk.empty();
    var syncs = new AtomicInteger();
    var gate = new Semaphore(0);
    var journal = open(disk, new ArrayList<>());
    disk.beforeOperation(operation -> {
      if (operation.equals("sync") && syncs.getAndIncrement() == 0) gate.acquireUninterruptibly();
    });

    add(journal, "the first");
    Patience.eventually(() -> syncs.get() > 0);
    var waitingEntries = new ArrayList<TestEntry>();
    for (int i = 0; i < 100; i++) waitingEntries.add(add(journal, "another"));
    gate.release();
    for (var entry : waitingEntries) entry.stored.get();

    assertEquals(2, syncs.get());
    journal.close();
  }

  @Test
  void busyJournalWritesAndSyncsOncePerCommit() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>());
    var counter = countOperations(disk);

    for (int i = 0; i < 50; i++) add(journal, "turn").stored.get();

    assertEquals(List.of(50, 50), List.of(counter.writes.get(), counter.syncs.get()));
    journal.close();
  }

  @Test
  void idleJournalMarksEachBurstOnceWithoutSync() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, 1, new ArrayList<>()); // each commit ends a burst
    var counter = countOperations(disk);

    for (int i = 1; i <= 50; i++) {
      add(journal, "turn").stored.get();
      int expectedWrites = 2 * i;
      Patience.eventually(() -> counter.writes.get() == expectedWrites);
    }

    Patience.awaitParked(counter.thread);
    assertEquals(List.of(100, 50), List.of(counter.writes.get(), counter.syncs.get()));
    journal.close();
  }

  @Test
  void entriesAreStoredThoughNoMarkCanBeWritten() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, 1, new ArrayList<>());
    var writes = new AtomicInteger();
    disk.beforeOperation(operation -> {
      // After each entry, the write of the mark fails, and a third write undoes the mark
      if (operation.equals("write") && writes.incrementAndGet() % 3 == 2)
        throw new UncheckedIOException(new IOException("planned by the test"));
    });

    for (int i = 1; i <= 5; i++) {
      add(journal, "turn " + i).stored.get();
      int expectedWrites = 3 * i;
      Patience.eventually(() -> writes.get() == expectedWrites);
    }
    journal.close();

    disk.beforeOperation(operation -> {});
    var records = new ArrayList<String>();
    open(disk, records).close();
    assertEquals(List.of("turn 1", "turn 2", "turn 3", "turn 4", "turn 5"), records);
  }

  private static final class DiskCounter {
    private final AtomicInteger writes = new AtomicInteger();
    private final AtomicInteger syncs = new AtomicInteger();
    private volatile Thread thread; // the journal's thread
  }

  private static DiskCounter countOperations(CrashDisk disk) {
    var counter = new DiskCounter();
    disk.beforeOperation(operation -> {
      counter.thread = Thread.currentThread();
      if (operation.equals("write")) counter.writes.incrementAndGet();
      if (operation.equals("sync")) counter.syncs.incrementAndGet();
    });
    return counter;
  }

  @Test
  void journalStopsUsingDiskAfterFailedSync() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>());
    add(journal, "stored").stored.get();
    disk.beforeOperation(operation -> {
      if (operation.equals("sync")) throw new UncheckedIOException(new IOException("planned by the test"));
    });

    var unsyncedEntry = add(journal, "perhaps");
    assertInstanceOf(StoreBrokenException.class, unsyncedEntry.failure());
    assertEquals(RequestOutcome.UNKNOWN, unsyncedEntry.failure().outcome());
    disk.beforeOperation(operation -> {
      throw new AssertionError(operation);
    });
    var laterEntry = add(journal, "never");
    assertInstanceOf(StoreBrokenException.class, laterEntry.failure());
    assertEquals(RequestOutcome.NOT_DONE, laterEntry.failure().outcome());
    journal.close();
  }

  @Test
  void entryOfFailedWriteIsAbsentAfterReopening() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>());
    var writes = new AtomicInteger();
    disk.beforeOperation(operation -> {
      if (operation.equals("write") && writes.getAndIncrement() == 0)
        throw new UncheckedIOException(new IOException("planned by the test"));
    });

    var refusedEntry = add(journal, "refused");
    assertEquals("planned by the test", refusedEntry.failure().getCause().getMessage());
    assertEquals(RequestOutcome.NOT_DONE, refusedEntry.failure().outcome());
    add(journal, "stored").stored.get();
    journal.close();

    var records = new ArrayList<String>();
    open(disk, records).close();
    assertEquals(List.of("stored"), records);
  }

  @Test
  void journalRefusesEntriesUntilFullDiskHasSpace() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>()); // the next segment exists already
    disk.beforeOperation(operation -> {
      if (operation.equals("create")) throw new UncheckedIOException(new IOException("No space left on device"));
    });
    String half = "x".repeat(SEGMENT / 2);

    add(journal, half).stored.get();
    add(journal, half).stored.get();
    var refusedEntry = add(journal, half);
    assertInstanceOf(StoreFullException.class, refusedEntry.failure());
    assertEquals(RequestOutcome.NOT_DONE, refusedEntry.failure().outcome());
    add(journal, "a small entry fits").stored.get();

    disk.beforeOperation(operation -> {});
    nanos.addAndGet(1_000_000_000); // the journal tries again each second
    add(journal, half).stored.get();
    journal.close();
  }

  @Test
  void closedJournalRefusesEntries() throws Exception {
    var journal = open(CrashDisk.empty(), new ArrayList<>());
    var lastEntry = add(journal, "the last");
    journal.close();

    lastEntry.stored.get();
    assertEquals("the store in a simulated disk is closed", add(journal, "too late").failure().getMessage());
  }

  @Test
  void entriesThatRaceWithCloseAreStoredOrRefused() throws Exception {
    for (int round = 0; round < 200; round++) {
      var journal = open(CrashDisk.empty(), new ArrayList<>());
      var sender = new FutureTask<>(() -> {
        var added = new ArrayList<TestEntry>();
        for (int i = 0; i < 50; i++) added.add(add(journal, "one"));
        return added;
      });
      Thread.ofPlatform().start(sender);
      journal.close();
      for (var entry : Patience.value(sender)) entry.stored.handle((nothing, failure) -> failure).get();
    }
  }

  @Test
  void requestedSyncDoesNotWaitForInterval() throws Exception {
    var disk = CrashDisk.empty();
    var syncs = new AtomicInteger();
    var journal = openWithSyncInterval(disk);
    disk.beforeOperation(operation -> {
      if (operation.equals("sync")) syncs.incrementAndGet();
    });
    add(journal, "written").stored.get();
    assertEquals(0, syncs.get());

    journal.syncFuture().get();

    assertEquals(1, syncs.get());
    journal.syncFuture().get(); // all entries are synced already
    assertEquals(1, syncs.get());
    journal.close();
    assertInstanceOf(StoreClosedException.class,
        assertThrows(ExecutionException.class, () -> journal.syncFuture().get()).getCause());
  }

  @Test
  void syncFuturesCompleteWhenJournalClosesConcurrently() throws Exception {
    for (int round = 0; round < 200; round++) {
      var journal = openWithSyncInterval(CrashDisk.empty());
      var requester = new FutureTask<>(() -> {
        var syncFutures = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < 50; i++) syncFutures.add(journal.syncFuture());
        return syncFutures;
      });
      Thread.ofPlatform().start(requester);
      journal.close();
      for (var future : Patience.value(requester)) future.handle((nothing, failure) -> failure).get();
    }
  }

  private LogWriter openWithSyncInterval(StorageDirectory disk) throws IOException {
    return LogWriter.open(TextLog.open(disk, SEGMENT, nanos::get, new ArrayList<>()), System::currentTimeMillis, DAY,
        DAY, MAX_BYTES);
  }

  @Test
  void requestedSyncFailsIfDiskFails() throws Exception {
    var disk = CrashDisk.empty();
    var journal = openWithSyncInterval(disk);
    disk.beforeOperation(operation -> {
      if (operation.equals("sync")) throw new UncheckedIOException(new IOException("planned by the test"));
    });
    add(journal, "written").stored.get();

    assertThrows(ExecutionException.class, () -> journal.syncFuture().get());
    journal.close();
  }

  @Test
  void senderWaitsWhileTooManyBytesArePending() throws Exception {
    var disk = CrashDisk.empty();
    var gate = new Semaphore(0);
    var journal = open(disk, new ArrayList<>());
    disk.beforeOperation(operation -> {
      if (operation.equals("sync")) gate.acquireUninterruptibly();
    });
    var added = new AtomicInteger();
    var sender = Thread.ofVirtual().start(() -> {
      try {
        for (int i = 0; i < 40; i++) {
          add(journal, "x".repeat(SEGMENT / 2));
          added.incrementAndGet();
        }
      } catch (InterruptedException cancelled) {
        Thread.currentThread().interrupt();
      }
    });

    Patience.eventually(() -> added.get() == MAX_BYTES / (SEGMENT / 2));
    Patience.awaitParked(sender);
    assertEquals(MAX_BYTES / (SEGMENT / 2), added.get());
    sender.interrupt(); // it stops waiting; the other entries are stored
    Patience.awaitEnd(sender);
    gate.release(1000);
    journal.close();
  }
}
