package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.repair.SalvagePlan;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Tests that damage to the last turn of a log is detected after a kill, because the store has
 * written a mark after this turn.
 */
class LastFrameTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final String LOG = "00000001.log";
  private static final String NEXT_LOG = "00000002.log"; // which the store creates in advance
  private static final int SEGMENT = 4096;
  private static final UnaryOperator<FolderStore.Options> SMALL = options -> options.withSegmentBytes(SEGMENT);

  private static void append(StoreBackend store, long life, long number) throws Exception {
    store
        .append(
            new StoreBackend.Turn(ADA, life, number, Instant.EPOCH, false, new byte[] {1, 2, 3}, List.of(), List.of()))
        .toCompletableFuture().get();
  }

  /**
   * Returns the disk of a store that stored turns, was idle until it had written a mark and created
   * the next segment, and was then killed.
   */
  private static CrashDisk killedWhenIdle(CrashDisk disk, UnaryOperator<FolderStore.Options> options, int turns)
      throws Exception {
    try (var store = StoreBackend.of(FolderStore.open(disk, options))) {
      long lastTurn = store.load(ADA).lastTurn();
      long life = store.load(ADA).life();
      for (int n = 1; n <= turns; n++) append(store, life, lastTurn + n);
      Patience.eventually(() -> isMarked(disk) && disk.names().contains(NEXT_LOG));
      return disk.copy();
    }
  }

  private static boolean isMarked(CrashDisk disk) {
    var frames = frames(disk);
    return !frames.isEmpty() && frames.getLast().records() == 0;
  }

  private static List<Frame.FrameHeader> frames(CrashDisk disk) {
    try {
      return frames(disk, LOG);
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private static List<Frame.FrameHeader> frames(CrashDisk disk, String name) throws IOException {
    var headers = new ArrayList<Frame.FrameHeader>();
    var segment = new Segment(StoreIdFile.read(disk), Segment.numberOf(name));
    var file = segment.read(disk);
    int offset = Segment.HEADER;
    for (var frame = Frame.readHeader(segment.position(offset), file.position(offset)); frame != null;
        frame = Frame.readHeader(segment.position(offset), file.position(offset))) {
      headers.add(frame);
      offset += frame.size();
    }
    return headers;
  }

  private static int begin(List<Frame.FrameHeader> frames, int index) {
    return Segment.HEADER + frames.subList(0, index).stream().mapToInt(Frame.FrameHeader::size).sum();
  }

  private static void assertEachFlipIsDetected(CrashDisk disk) throws IOException {
    var frames = frames(disk);
    int lastFrame = frames.size() - 2; // the frame before the mark
    int begin = begin(frames, lastFrame);
    assertTrue(frames.get(lastFrame).records() > 0, frames::toString);
    for (int bit = 8 * begin; bit < 8 * (begin + frames.get(lastFrame).size()); bit += 5) {
      var copy = disk.copy();
      copy.flipBit(LOG, bit);
      var failure = assertThrows(StoreDamagedException.class, () -> FolderStore.open(copy, SMALL), "bit " + bit);
      assertEquals("a simulated disk: 00000001.log is damaged: frame " + frames.get(lastFrame).number() + " at " + begin
          + " was on disk, and is no longer intact; frame " + frames.getLast().number() + " at "
          + (begin + frames.get(lastFrame).size()) + " is intact. Nothing was changed; restore the file from a backup",
          failure.getMessage());
      var check = SalvagePlan.of(copy);
      assertFalse(check.isWhole(), check::toString);
      assertTrue(check.doubt().isEmpty(), check::toString);
    }
  }

  @Test
  void damagedLastTurnIsDetectedIfStoreWasIdleWhenKilled() throws Exception {
    assertEachFlipIsDetected(killedWhenIdle(CrashDisk.empty(), SMALL, 3));
  }

  @Test
  void damagedLastTurnIsDetectedDespiteSyncInterval() throws Exception {
    assertEachFlipIsDetected(
        killedWhenIdle(CrashDisk.empty(), o -> SMALL.apply(o).withSyncInterval(Duration.ofMillis(1)), 3));
  }

  /** The first store is killed before it marks its turns, and the next store marks them. */
  @Test
  void openMarksTurnsThatKilledStoreLeftUnmarked() throws Exception {
    var disk = killedWhenIdle(CrashDisk.empty(), SMALL, 2);
    var frames = frames(disk);
    var zeros = ByteBuffer.allocate(frames.getLast().size());
    disk.write(LOG, begin(frames, frames.size() - 1), zeros);
    assertFalse(isMarked(disk));

    assertEachFlipIsDetected(killedWhenIdle(disk, SMALL, 0));
  }

  @Test
  void eachOpenAndCloseOfIdleStoreWritesOnce() throws Exception {
    var disk = killedWhenIdle(CrashDisk.empty(), SMALL, 1);
    var writes = new AtomicInteger();
    disk.beforeOperation(operation -> {
      if (operation.equals("write")) writes.incrementAndGet();
    });

    FolderStore.open(disk, SMALL).close();

    assertEquals(2, writes.get()); // open() writes the mark again, and close() writes, too
  }

  /**
   * Without a mark, a damaged last turn cannot be distinguished from a commit that a power cut
   * interrupted.
   */
  @Test
  void damagedLastTurnOfBusyStoreIsReportedAsDoubt() throws Exception {
    var disk = killedWhenIdle(CrashDisk.empty(), SMALL, 2);
    var frames = frames(disk);
    int lastFrame = frames.size() - 2;
    int begin = begin(frames, lastFrame);
    int size = frames.get(lastFrame).size();
    disk.write(LOG, begin + size, ByteBuffer.allocate(frames.getLast().size()));
    disk.flipBit(LOG, 8 * (begin + 4));

    var check = SalvagePlan.of(disk);

    assertTrue(check.isWhole(), check::toString);
    assertTrue(check.toString().startsWith("a simulated disk is whole up to its end, which is in doubt: 1 actor, "),
        check::toString);
    assertEquals(begin, check.doubt().orElseThrow().offset());
    assertTrue(check.toString().contains("\nin doubt: " + LOG + " at " + begin + ": the last "), check::toString);
    assertTrue(check.toString()
        .contains("The turns after " + Instant.ofEpochMilli(frames.get(lastFrame - 1).time()) + ", "), check::toString);
    try (var store = FolderStore.open(disk, SMALL)) {
      assertEquals(1, StoreBackend.of(store).load(ADA).lastTurn());
      assertEquals(List.of("00000001-" + begin + ".torn"), store.health().tornFiles());
    }
    assertTrue(SalvagePlan.of(disk).doubt().isEmpty());
  }

  @Test
  void damagedLastTurnOfBackupIsDetected() throws Exception {
    var copy = CrashDisk.empty();
    try (var store = FolderStore.open(CrashDisk.empty(), SMALL)) {
      var backend = StoreBackend.of(store);
      long life = backend.load(ADA).life();
      for (int n = 1; n <= 3; n++) append(backend, life, n);
      store.backup(copy);
    }

    assertEachFlipIsDetected(copy);
    try (var store = StoreBackend.of(FolderStore.open(copy, SMALL))) {
      assertEquals(3, store.load(ADA).lastTurn());
    }
  }

  @Test
  void historySkipsMarks() throws Exception {
    var disk = CrashDisk.empty();
    try (var store = StoreBackend.of(FolderStore.open(disk, SMALL))) {
      long life = store.load(ADA).life();
      var offsets = new ArrayList<String>(List.of(""));
      for (int n = 1; n <= 5; n++) {
        append(store, life, n);
        Patience.eventually(() -> isMarked(disk));
        for (int readTurns = 0; readTurns < n; readTurns++) {
          try (var history = store.history(ADA.kind(), offsets.get(readTurns))) {
            var turns = history.poll();
            assertEquals(n - readTurns, turns.size());
            assertEquals(n, turns.getLast().number());
            if (readTurns == n - 1) offsets.add(turns.getLast().offset());
          }
        }
      }
    }
  }

  /**
   * Turns of different sizes fill more than one segment. Each segment must keep space for a mark
   * after its last turn.
   */
  @Test
  void segmentKeepsSpaceForMarkAfterItsLastTurn() throws Exception {
    var disk = CrashDisk.empty();
    try (var store = StoreBackend.of(FolderStore.open(disk, SMALL))) {
      long life = store.load(ADA).life();
      for (int n = 1; n <= 20; n++) {
        var body = new byte[150 + 8 * n];
        store.append(new StoreBackend.Turn(ADA, life, n, Instant.EPOCH, false, body, List.of(), List.of()))
            .toCompletableFuture().get();
        Patience.eventually(() -> isLastMarked(disk));
      }
    }
    assertTrue(SalvagePlan.of(disk).isWhole());
  }

  private static boolean isLastMarked(CrashDisk disk) {
    try {
      for (var name : disk.names().reversed()) {
        var frames = Segment.isName(name) ? frames(disk, name) : List.<Frame.FrameHeader>of();
        if (!frames.isEmpty())
          return frames.getLast().records() == 0 && frames.getLast().kind() == Frame.FrameKind.RECORDS;
      }
      return false;
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }
}
