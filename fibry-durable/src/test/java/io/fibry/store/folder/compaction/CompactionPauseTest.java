package io.fibry.store.folder.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.folder.FaultyDisk;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import io.fibry.store.folder.index.IndexBuilder;
import io.fibry.store.folder.index.LogIndex;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.LogReader;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.folder.log.SegmentLog;
import io.fibry.store.folder.log.SegmentPreallocator;
import io.fibry.store.folder.log.StoreIdFile;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/**
 * Tests compactions that run on the test's thread. While the throttle pauses a compaction, the test
 * writes turns, sets the clock, causes faults or stops the compaction.
 */
class CompactionPauseTest {
  private static final int SEGMENT = 4 << 20;
  private static final int BODY = 100_000; // bytes
  private static final int STATES = 19; // number of actors that store states; one more actor stores events

  @TempDir
  private Path folder;
  private FaultyDisk faulty;
  private StorageDirectory disk;
  private LogIndex index;
  private SegmentLog log;
  private Compaction compaction;
  private final Queue<Runnable> passes = new ArrayDeque<>(); // compactions that are due
  private final Map<Integer, Long> lastTurns = new HashMap<>(); // number of the last turn of each actor
  private int nextActor;
  private Instant now = Instant.EPOCH;
  private long nanos;
  private int pauses;
  private int pausesBeforeSync; // number of pauses before the last sync
  private Runnable pauseAction = () -> {}; // runs once during a pause, while a new file is written

  @BeforeEach
  void open() throws IOException {
    faulty = new FaultyDisk(folder);
    disk = faulty.disk();
    long id = StoreIdFile.readOrCreate(disk, SEGMENT);
    index = new LogIndex(folder::toString, (print, place) -> null, () -> now);
    log = SegmentLog.open(disk, id, new SegmentPreallocator(disk, Runnable::run, SEGMENT, System::nanoTime),
        new IndexBuilder(index));
    compaction = new Compaction(disk, SEGMENT, index, log.sealedSegments(), this::sync,
        passes::add, () -> new DiskThrottle(() -> nanos++, this::onPause));
    log.onSealed(compaction::onSegmentSealed);
  }

  @AfterEach
  void reopenedStoreHasAllTurns() throws Exception {
    faulty.heal();
    checkIndex();
    log.close(0);
    disk.close();
    assertTrue(FolderStore.check(folder).isWhole());
    try (var store = StoreBackend.of(FolderStore.open(folder, options -> options.withSegmentBytes(SEGMENT)))) {
      lastTurns.forEach((actor, number) -> assertEquals(number, store.load(id(actor)).lastTurn()));
      var events = lastTurns.getOrDefault(STATES, 0L);
      assertEquals(events, store.load(id(STATES)).bodies().size());
      try (var history = store.history("events", "")) {
        for (long read = 0; read < events;)
          for (var turn : history.poll()) assertEquals(++read, turn.number());
      }
    }
  }

  private CompletableFuture<Void> sync() {
    pausesBeforeSync = pauses;
    return CompletableFuture.completedFuture(null);
  }

  private void onPause(long time) {
    pauses++;
    nanos += time;
    if (!isFileBeingWritten()) return;
    pauseAction.run();
    pauseAction = () -> {};
  }

  private boolean isFileBeingWritten() {
    try {
      return disk.names().stream().anyMatch(name -> name.endsWith(AtomicFile.UNFINISHED_SUFFIX));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId(actor < STATES ? "state" : actor == STATES ? "events" : "old", "a" + actor);
  }

  /** Writes the next state or the next event of an actor. */
  private void write(int actor) {
    write(actor, lastTurns.merge(actor, 1L, Long::sum), false);
  }

  private void write(int actor, long number, boolean snapshot) {
    var record =
        LogRecord.bytes(new StoreBackend.Turn(id(actor), 1, number, Instant.EPOCH, actor < STATES, new byte[BODY],
            List.of(), List.of()), snapshot);
    var position = log.append(List.of(record), 0);
    index.addRecord(LogRecord.of(record), position.segment(), position.offset() + Frame.RECORDS_OFFSET);
  }

  /** Writes turns until this number of further segments is full. */
  private void fill(int segments) {
    for (long target = log.sealedSegments().size() + segments; log.sealedSegments().size() < target; nextActor++)
      write(nextActor % (STATES + 1));
  }

  private void runCompaction() {
    passes.remove().run();
  }

  private int compactSegments() {
    return (int) log.sealedSegments().values().stream().filter(Segment::isCompact).count();
  }

  private void checkIndex() throws IOException {
    for (int actor : lastTurns.keySet()) {
      var location = index.withActor(id(actor), same -> same);
      long number = lastTurns.get(actor) - location.positions().length;
      for (long position : location.positions()) {
        var record = ByteBuffer.allocate(2 * BODY);
        disk.read(Segment.nameOf((int) (position >> Integer.SIZE)), (int) position, record);
        var stored = LogRecord.readChecked(record.flip().slice(Integer.BYTES, record.getInt(0)));
        assertEquals(id(actor), stored.actor());
        assertEquals(++number, stored.number());
      }
      index.compact(location);
    }
  }

  @Test
  void compactionPausesRepeatedlyDuringReadsAndWrites() {
    fill(4);
    runCompaction();

    assertEquals(1, compactSegments());
    assertTrue(pauses >= 5 * SEGMENT / DiskThrottle.WORK_BYTES / 2, () -> pauses + " pauses");
    assertEquals(1, log.sealedSegments().size());
  }

  @Test
  void compactionSyncsLogAfterItsLastPause() {
    fill(4);
    runCompaction();

    assertTrue(pauses > 0);
    assertEquals(pauses, pausesBeforeSync);
  }

  @Test
  void compactionDoesNotPauseWhenManySegmentsAreFull() {
    fill(8);
    runCompaction();

    assertEquals(0, pauses);
    assertEquals(1, compactSegments());
  }

  @Test
  void compactionStopsPausingWhenSegmentsFillMeanwhile() {
    fill(4);
    var pausesAtAction = new ArrayList<Integer>();
    pauseAction = () -> {
      fill(4);
      pausesAtAction.add(pauses);
    };
    runCompaction();

    assertEquals(pausesAtAction, List.of(pauses));
    assertEquals(1, compactSegments());
  }

  @Test
  void stoppedCompactionFinishesSegmentWithoutPauses() {
    fill(4);
    var pausesAtAction = new ArrayList<Integer>();
    pauseAction = () -> {
      compaction.stop();
      pausesAtAction.add(pauses);
    };
    runCompaction();

    assertEquals(pausesAtAction, List.of(pauses));
    assertEquals(1, compactSegments());
    fill(4);
    assertTrue(passes.isEmpty());
  }

  @Test
  void recordsReplacedDuringRewriteAreOmitted() throws IOException {
    fill(4);
    pauseAction = () -> {
      for (int actor = 0; actor < STATES; actor += 2) write(actor);
    };
    runCompaction();

    var file = log.sealedSegments().firstEntry().getValue().read(disk);
    assertTrue(file.limit() > STATES * BODY);
    assertTrue(LogReader.lastNonZero(file) < file.limit() - STATES / 2 * BODY);
    checkIndex();
  }

  @Test
  void compactionFailsIfClockSetBackRevivesExpiredEvents() {
    index.setRetention("old", Duration.ofDays(1));
    now = now.plus(Duration.ofDays(2));
    for (int i = 0; i < 30; i++) write(STATES + 1);
    write(STATES + 1, 30, true); // a snapshot; the events before it are older than their retention
    fill(4);
    pauseAction = () -> now = Instant.EPOCH;
    try (var logged = new Logged()) {
      runCompaction();
      assertEquals(1, logged.lines("bytes, and the live records need more").size());
    }

    assertFalse(isFileBeingWritten());
    now = now.plus(Duration.ofDays(2));
    fill(1);
    runCompaction();
    assertEquals(1, log.sealedSegments().size());
  }

  @Test
  void backupDoesNotWaitForPausesOfCompaction() {
    fill(4);
    var copied = new CompletableFuture<Void>();
    pauseAction = () -> {
      Patience.startFiber(() -> {
        compaction.withStableFiles(() -> copied.complete(null));
        return null;
      }, copied);
      Patience.value(copied);
    };
    runCompaction();

    assertTrue(copied.isDone());
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedWrite() throws IOException {
    assertRewriteIsRepeatedAfter("write", new IOException("no space left, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedSync() throws IOException {
    assertRewriteIsRepeatedAfter("sync", new IOException("made up, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedRead() throws IOException {
    assertRewriteIsRepeatedAfter("read", new IOException("made up, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterOutOfMemory() throws IOException {
    assertRewriteIsRepeatedAfter("write", new OutOfMemoryError("made up, for a test"));
  }

  @Test
  void nextPassRepeatsRewriteAfterFailedRename() throws IOException {
    assertRewriteIsRepeatedAfter("rename", new IOException("made up, for a test"));
  }

  private void assertRewriteIsRepeatedAfter(String operation, Throwable failure) throws IOException {
    fill(4);
    pauseAction = () -> faulty.fail(operation, failure);
    try (var logged = new Logged()) {
      runCompaction();
      assertEquals(1, logged.lines(folder + " keeps replaced records until the next segment is full").size());
    }

    assertFalse(isFileBeingWritten());
    assertEquals(4, log.sealedSegments().size());
    faulty.heal();
    checkIndex();
    fill(1);
    runCompaction();
    assertEquals(1, log.sealedSegments().size());
  }

  @Test
  void failedDirectorySyncStopsCompactionUntilReopen() {
    fill(4);
    pauseAction = () -> faulty.fail("syncDirectory");
    try (var logged = new Logged()) {
      runCompaction();
      assertEquals(1, logged.lines(folder + " keeps replaced records until it is opened again").size());
    }

    faulty.heal();
    fill(8);
    assertTrue(passes.isEmpty());
  }
}
