package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Outcome;
import io.fibry.store.StoreBrokenException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One thread that writes for many. */
class JournalTest {
  private static final int SEGMENT = 1 << 16;
  private static final int ROOM = 1 << 20;
  private static final long DAY = 86_400_000_000_000L; // ns

  /** Its text, and whether it is stored. */
  private static final class Noted implements LogWriter.LogEntry {
    private final ByteBuffer record;
    private final CompletableFuture<Void> fate = new CompletableFuture<>();

    Noted(String text) {
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
      fate.complete(null);
    }

    @Override
    public void onRefused(StoreException why) {
      fate.completeExceptionally(why);
    }

    StoreException failure() {
      return assertInstanceOf(StoreException.class, assertThrows(ExecutionException.class, fate::get).getCause());
    }
  }

  private final AtomicLong nanos = new AtomicLong();

  private LogWriter open(StorageDirectory disk, List<String> found) throws IOException {
    return open(disk, DAY, found);
  }

  private LogWriter open(StorageDirectory disk, long quiet, List<String> found) throws IOException {
    return LogWriter.open(TextLog.open(disk, SEGMENT, nanos::get, found), System::currentTimeMillis, 0, quiet, ROOM);
  }

  private static Noted add(LogWriter journal, String text) throws InterruptedException {
    var entry = new Noted(text);
    journal.add(entry);
    return entry;
  }

  @Test
  void entriesOfManySendersKeepOrderOfEachSender(@TempDir Path folder) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("journal: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    int senders = 50;
    int each = 400;

    try (var disk = FileDisk.open(folder)) {
      var journal = open(disk, new ArrayList<>());
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < senders; i++) {
          int sender = i;
          var mine = random.split();
          threads.submit(() -> send(journal, sender, each, mine));
        }
      }
      journal.close();
    }

    var found = new ArrayList<String>();
    try (var disk = FileDisk.open(folder)) {
      open(disk, found).close();
    }
    assertEquals(senders * each, found.size(), "seed " + seed);
    int[] next = new int[senders];
    for (var text : found) {
      var parts = text.split(":");
      assertEquals(next[Integer.parseInt(parts[0])]++, Integer.parseInt(parts[1]), "seed " + seed);
    }
  }

  private static Void send(LogWriter journal, int sender, int count, SplittableRandom random) throws Exception {
    for (int k = 0; k < count; k++) {
      var entry = add(journal, sender + ":" + k + ":" + "x".repeat(random.nextInt(100)));
      if (random.nextInt(10) == 0) entry.fate.get();
    }
    return null;
  }

  @Test
  void allThatWaitsBecomesOneCommit() throws Exception {
    var disk = CrashDisk.empty();
    var forces = new AtomicInteger();
    var gate = new Semaphore(0);
    var journal = open(disk, new ArrayList<>());
    disk.beforeOperation(operation -> {
      if (operation.equals("sync") && forces.getAndIncrement() == 0) gate.acquireUninterruptibly();
    });

    add(journal, "the first");
    Patience.eventually(() -> forces.get() > 0);
    var others = new ArrayList<Noted>();
    for (int i = 0; i < 100; i++) others.add(add(journal, "another"));
    gate.release();
    for (var other : others) other.fate.get();

    assertEquals(2, forces.get());
    journal.close();
  }

  @Test
  void busyJournalWritesAndSyncsOncePerCommit() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>());
    var count = count(disk);

    for (int i = 0; i < 50; i++) add(journal, "turn").fate.get();

    assertEquals(List.of(50, 50), List.of(count.writes.get(), count.forces.get()));
    journal.close();
  }

  @Test
  void idleJournalMarksEachBurstOnceWithoutSync() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, 1, new ArrayList<>()); // each commit is a burst
    var count = count(disk);

    for (int i = 1; i <= 50; i++) {
      add(journal, "turn").fate.get();
      int writes = 2 * i;
      Patience.eventually(() -> count.writes.get() == writes);
    }

    Patience.parked(count.thread);
    assertEquals(List.of(100, 50), List.of(count.writes.get(), count.forces.get()));
    journal.close();
  }

  @Test
  void turnsAreStoredThoughNoMarkCanBeWritten() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, 1, new ArrayList<>());
    var writes = new AtomicInteger();
    disk.beforeOperation(operation -> {
      if (operation.equals("write") && writes.incrementAndGet() % 3 == 2) // the third takes the second back
        throw new UncheckedIOException(new IOException("made up, for a test"));
    });

    for (int i = 1; i <= 5; i++) {
      add(journal, "turn " + i).fate.get();
      int all = 3 * i;
      Patience.eventually(() -> writes.get() == all);
    }
    journal.close();

    disk.beforeOperation(operation -> {});
    var found = new ArrayList<String>();
    open(disk, found).close();
    assertEquals(List.of("turn 1", "turn 2", "turn 3", "turn 4", "turn 5"), found);
  }

  private static final class Count {
    private final AtomicInteger writes = new AtomicInteger();
    private final AtomicInteger forces = new AtomicInteger();
    private volatile Thread thread; // of the journal
  }

  private static Count count(CrashDisk disk) {
    var count = new Count();
    disk.beforeOperation(operation -> {
      count.thread = Thread.currentThread();
      if (operation.equals("write")) count.writes.incrementAndGet();
      if (operation.equals("sync")) count.forces.incrementAndGet();
    });
    return count;
  }

  @Test
  void failedSyncIsNotRetried() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>());
    add(journal, "stored").fate.get();
    disk.beforeOperation(operation -> {
      if (operation.equals("sync")) throw new UncheckedIOException(new IOException("made up, for a test"));
    });

    var lost = add(journal, "perhaps");
    assertInstanceOf(StoreBrokenException.class, lost.failure());
    assertEquals(Outcome.UNKNOWN, lost.failure().outcome());
    disk.beforeOperation(operation -> {
      throw new AssertionError(operation);
    });
    var later = add(journal, "never");
    assertInstanceOf(StoreBrokenException.class, later.failure());
    assertEquals(Outcome.NOT_DONE, later.failure().outcome());
    journal.close();
  }

  @Test
  void aWriteThatFailedIsTakenBack() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>());
    var writes = new AtomicInteger();
    disk.beforeOperation(operation -> {
      if (operation.equals("write") && writes.getAndIncrement() == 0)
        throw new UncheckedIOException(new IOException("made up, for a test"));
    });

    var refused = add(journal, "refused");
    assertEquals("made up, for a test", refused.failure().getCause().getMessage());
    assertEquals(Outcome.NOT_DONE, refused.failure().outcome());
    add(journal, "stored").fate.get();
    journal.close();

    var found = new ArrayList<String>();
    open(disk, found).close();
    assertEquals(List.of("stored"), found);
  }

  @Test
  void aFullDiskRefusesAndRecovers() throws Exception {
    var disk = CrashDisk.empty();
    var journal = open(disk, new ArrayList<>()); // with a segment in advance
    disk.beforeOperation(operation -> {
      if (operation.equals("create")) throw new UncheckedIOException(new IOException("No space left on device"));
    });
    String half = "x".repeat(SEGMENT / 2);

    add(journal, half).fate.get();
    add(journal, half).fate.get();
    var refused = add(journal, half);
    assertInstanceOf(StoreFullException.class, refused.failure());
    assertEquals(Outcome.NOT_DONE, refused.failure().outcome());
    add(journal, "a small one has room").fate.get();

    disk.beforeOperation(operation -> {});
    nanos.addAndGet(1_000_000_000); // it tries again each second
    add(journal, half).fate.get();
    journal.close();
  }

  @Test
  void aSenderToAClosedJournalIsTold() throws Exception {
    var journal = open(CrashDisk.empty(), new ArrayList<>());
    var last = add(journal, "the last");
    journal.close();

    last.fate.get();
    assertEquals("the store in a simulated disk is closed", add(journal, "too late").failure().getMessage());
  }

  @Test
  void sendersThatRaceJournalEndAreTold() throws Exception {
    for (int round = 0; round < 200; round++) {
      var journal = open(CrashDisk.empty(), new ArrayList<>());
      var added = new ArrayList<Noted>();
      var sender = Thread.ofPlatform().start(() -> {
        try {
          for (int i = 0; i < 50; i++) added.add(add(journal, "one"));
        } catch (InterruptedException never) {
          throw new AssertionError(never);
        }
      });
      journal.close();
      sender.join();
      for (var entry : added) entry.fate.handle((none, failure) -> failure).get();
    }
  }

  @Test
  void requestedSyncDoesNotWaitForInterval() throws Exception {
    var disk = CrashDisk.empty();
    var forces = new AtomicInteger();
    var journal = openWithPause(disk);
    disk.beforeOperation(operation -> {
      if (operation.equals("sync")) forces.incrementAndGet();
    });
    add(journal, "written").fate.get();
    assertEquals(0, forces.get());

    journal.syncFuture().get();

    assertEquals(1, forces.get());
    journal.syncFuture().get(); // all is on disk
    assertEquals(1, forces.get());
    journal.close();
    assertInstanceOf(StoreClosedException.class,
        assertThrows(ExecutionException.class, () -> journal.syncFuture().get()).getCause());
  }

  @Test
  void syncRequestsThatRaceJournalEndAreTold() throws Exception {
    for (int round = 0; round < 200; round++) {
      var journal = openWithPause(CrashDisk.empty());
      var wanted = new ArrayList<CompletableFuture<Void>>();
      var thread = Thread.ofPlatform().start(() -> {
        for (int i = 0; i < 50; i++) wanted.add(journal.syncFuture());
      });
      journal.close();
      thread.join();
      for (var force : wanted) force.handle((none, failure) -> failure).get();
    }
  }

  private LogWriter openWithPause(StorageDirectory disk) throws IOException {
    return LogWriter.open(TextLog.open(disk, SEGMENT, nanos::get, new ArrayList<>()), System::currentTimeMillis, DAY,
        DAY, ROOM);
  }

  @Test
  void requestedSyncFailsWithDisk() throws Exception {
    var disk = CrashDisk.empty();
    var journal = openWithPause(disk);
    disk.beforeOperation(operation -> {
      if (operation.equals("sync")) throw new UncheckedIOException(new IOException("made up, for a test"));
    });
    add(journal, "written").fate.get();

    assertThrows(ExecutionException.class, () -> journal.syncFuture().get());
    journal.close();
  }

  @Test
  void aSenderWaitsForRoom() throws Exception {
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

    Patience.eventually(() -> added.get() == ROOM / (SEGMENT / 2));
    Patience.parked(sender);
    assertEquals(ROOM / (SEGMENT / 2), added.get());
    sender.interrupt(); // it gives up; the others are stored
    Patience.joined(sender);
    gate.release(1000);
    journal.close();
  }
}
