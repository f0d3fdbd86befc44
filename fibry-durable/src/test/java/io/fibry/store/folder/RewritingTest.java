package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.support.Logged;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pass over full files, in the test's thread, in which something happens while it rests. */
class RewritingTest {
  private static final int SEGMENT = 4 << 20;
  private static final int BODY = 100_000; // bytes
  private static final int STATES = 19; // actors with a state, beside one with events

  @TempDir
  private Path folder;
  private FaultyDisk faulty;
  private StorageDirectory disk;
  private LogIndex index;
  private SegmentLog log;
  private Compaction compaction;
  private final Queue<Runnable> passes = new ArrayDeque<>(); // that are due
  private final Map<Integer, Long> last = new HashMap<>(); // turns of each actor
  private int next; // actor
  private Instant now = Instant.EPOCH;
  private long nanos;
  private int rests;
  private int restsUntilForce; // of what made others dead
  private Runnable once = () -> {}; // runs in a rest, when a file is being made

  @BeforeEach
  void open() throws IOException {
    faulty = new FaultyDisk(folder);
    disk = faulty.disk();
    long id = StoreIdFile.open(disk, SEGMENT);
    index = new LogIndex(folder::toString, (print, place) -> null, () -> now);
    log = SegmentLog.open(disk, id, new SegmentPreallocator(disk, Runnable::run, SEGMENT, System::nanoTime),
        new IndexBuilder(index));
    compaction = new Compaction(disk, SEGMENT, index, log.sealedSegments(), this::force,
        passes::add, () -> new DiskThrottle(() -> nanos++, this::rest));
    log.onSealed(compaction::onSegmentSealed);
  }

  @AfterEach
  void allIsThereWhenItIsOpenedAgain() throws Exception {
    faulty.heal();
    checkIndex();
    log.close(0);
    disk.close();
    assertTrue(FolderStore.check(folder).isWhole());
    try (var store = FolderStore.open(folder, options -> options.withSegmentBytes(SEGMENT))) {
      last.forEach((actor, number) -> assertEquals(number, store.load(id(actor)).lastTurn()));
      var events = last.getOrDefault(STATES, 0L);
      assertEquals(events, store.load(id(STATES)).bodies().size());
      try (var history = store.history("events", "")) {
        for (long read = 0; read < events;)
          for (var past : history.poll()) assertEquals(++read, past.number());
      }
    }
  }

  private CompletableFuture<Void> force() {
    restsUntilForce = rests;
    return CompletableFuture.completedFuture(null);
  }

  private void rest(long time) {
    rests++;
    nanos += time;
    if (!isMade()) return;
    once.run();
    once = () -> {};
  }

  private boolean isMade() {
    try {
      return disk.names().stream().anyMatch(name -> name.endsWith(AtomicFile.UNFINISHED_SUFFIX));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId(actor < STATES ? "state" : actor == STATES ? "events" : "old", "a" + actor);
  }

  /** The next state of an actor, or the next event. */
  private void write(int actor) {
    write(actor, last.merge(actor, 1L, Long::sum), false);
  }

  private void write(int actor, long number, boolean snapshot) {
    var record = LogRecord.bytes(new Store.Turn(id(actor), 1, number, Instant.EPOCH, actor < STATES, new byte[BODY],
        List.of(), List.of()), snapshot);
    var place = log.append(List.of(record), 0);
    index.addRecord(LogRecord.of(record), place.segment(), place.offset() + Frame.RECORDS_OFFSET);
  }

  /** Until so many files have got full. */
  private void fill(int files) {
    for (long most = log.sealedSegments().size() + files; log.sealedSegments().size() < most; next++)
      write(next % (STATES + 1));
  }

  private void runPass() {
    passes.remove().run();
  }

  private int compact() {
    return (int) log.sealedSegments().values().stream().filter(Segment::isCompact).count();
  }

  private void checkIndex() throws IOException {
    for (int actor : last.keySet()) {
      var where = index.withActor(id(actor), found -> found);
      long number = last.get(actor) - where.positions().length;
      for (long place : where.positions()) {
        var record = ByteBuffer.allocate(2 * BODY);
        disk.read(Segment.nameOf((int) (place >> Integer.SIZE)), (int) place, record);
        var stored = LogRecord.readChecked(record.flip().slice(Integer.BYTES, record.getInt(0)));
        assertEquals(id(actor), stored.actor());
        assertEquals(++number, stored.number());
      }
      index.compact(where);
    }
  }

  @Test
  void compactionRestsDuringReadAndWrite() {
    fill(4);
    runPass();

    assertEquals(1, compact());
    assertTrue(rests >= 5 * SEGMENT / DiskThrottle.WORK_BYTES / 2, () -> rests + " rests");
    assertEquals(1, log.sealedSegments().size());
  }

  @Test
  void supersedingRecordsAreSyncedAfterLastCheck() {
    fill(4);
    runPass();

    assertTrue(rests > 0);
    assertEquals(rests, restsUntilForce);
  }

  @Test
  void compactionHurriesWhenTwiceTheDueFilesAreFull() {
    fill(8);
    runPass();

    assertEquals(0, rests);
    assertEquals(1, compact());
  }

  @Test
  void newFullFilesEndCompactionRests() {
    fill(4);
    var before = new ArrayList<Integer>();
    once = () -> {
      fill(4);
      before.add(rests);
    };
    runPass();

    assertEquals(before, List.of(rests));
    assertEquals(1, compact());
  }

  @Test
  void closeEndsRestsAndCompletesFile() {
    fill(4);
    var before = new ArrayList<Integer>();
    once = () -> {
      compaction.stop();
      before.add(rests);
    };
    runPass();

    assertEquals(before, List.of(rests));
    assertEquals(1, compact());
    fill(4);
    assertTrue(passes.isEmpty());
  }

  @Test
  void recordsDyingDuringRewriteAreLeftOut() throws IOException {
    fill(4);
    once = () -> {
      for (int actor = 0; actor < STATES; actor += 2) write(actor);
    };
    runPass();

    var file = log.sealedSegments().firstEntry().getValue().read(disk);
    assertTrue(file.limit() > STATES * BODY);
    assertTrue(LogReader.lastNonZero(file) < file.limit() - STATES / 2 * BODY);
    checkIndex();
  }

  @Test
  void recordsRevivedByClockSetBackFailThePass() {
    index.setRetention("old", Duration.ofDays(1));
    now = now.plus(Duration.ofDays(2));
    for (int i = 0; i < 30; i++) write(STATES + 1);
    write(STATES + 1, 30, true); // so those before are history, and old
    fill(4);
    once = () -> now = Instant.EPOCH;
    try (var logged = new Logged()) {
      runPass();
      assertEquals(1, logged.lines("bytes, and what is alive has become more").size());
    }

    assertFalse(isMade());
    now = now.plus(Duration.ofDays(2));
    fill(1);
    runPass();
    assertEquals(1, log.sealedSegments().size());
  }

  @Test
  void copyDoesNotWaitForRests() {
    fill(4);
    var copied = new CompletableFuture<Void>();
    once = () -> {
      Thread.startVirtualThread(() -> copy(copied));
      copied.join();
    };
    runPass();

    assertTrue(copied.isDone());
  }

  private void copy(CompletableFuture<Void> copied) {
    try {
      compaction.withStableFiles(() -> copied.complete(null));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedWrite() throws IOException {
    fails("write", new IOException("no space left, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedSync() throws IOException {
    fails("sync", new IOException("made up, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedRead() throws IOException {
    fails("read", new IOException("made up, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterOutOfMemory() throws IOException {
    fails("write", new OutOfMemoryError("made up, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedRename() throws IOException {
    fails("rename", new IOException("made up, for a test"));
  }

  private void fails(String operation, Throwable why) throws IOException {
    fill(4);
    once = () -> faulty.fail(operation, why);
    try (var logged = new Logged()) {
      runPass();
      assertEquals(1, logged.lines(folder + " keeps what is dead until the next segment is full").size());
    }

    assertFalse(isMade());
    assertEquals(4, log.sealedSegments().size());
    faulty.heal();
    checkIndex();
    fill(1);
    runPass();
    assertEquals(1, log.sealedSegments().size());
  }

  @Test
  void nothingIsRewrittenUntilReopenAfterFailedDirectorySync() {
    fill(4);
    once = () -> faulty.fail("syncDirectory");
    try (var logged = new Logged()) {
      runPass();
      assertEquals(1, logged.lines(folder + " keeps what is dead until it is opened again").size());
    }

    faulty.heal();
    fill(8);
    assertTrue(passes.isEmpty());
  }
}
