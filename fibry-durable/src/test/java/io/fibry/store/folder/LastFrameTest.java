package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
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

/** The last frame of a log is damaged after a kill, and no frame is written behind it. */
class LastFrameTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final String LOG = "00000001.log";
  private static final int SEGMENT = 4096;
  private static final UnaryOperator<FolderStore.Options> SMALL = options -> options.withSegmentBytes(SEGMENT);

  private static void append(Store store, long life, long number) throws Exception {
    store.append(new Store.Turn(ADA, life, number, Instant.EPOCH, false, new byte[] {1, 2, 3}, List.of(), List.of()))
        .toCompletableFuture().get();
  }

  /** A store that has stored turns, was idle until it marked the last one, and was killed then. */
  private static CrashDisk killedWhenIdle(CrashDisk disk, UnaryOperator<FolderStore.Options> options, int turns)
      throws Exception {
    try (var store = FolderStore.open(disk, options)) {
      long last = store.load(ADA).lastTurn();
      long life = store.load(ADA).life();
      for (int n = 1; n <= turns; n++) append(store, life, last + n);
      Patience.eventually(() -> isMarked(disk));
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
    var all = new ArrayList<Frame.FrameHeader>();
    var segment = new Segment(StoreIdFile.read(disk), Segment.numberOf(name));
    var file = segment.read(disk);
    int at = Segment.HEADER;
    for (var frame = Frame.readHeader(segment.position(at), file.position(at)); frame != null; frame = Frame.readHeader(
        segment.position(at), file.position(at))) {
      all.add(frame);
      at += frame.size();
    }
    return all;
  }

  private static int begin(List<Frame.FrameHeader> frames, int index) {
    return Segment.HEADER + frames.subList(0, index).stream().mapToInt(Frame.FrameHeader::size).sum();
  }

  private static void assertNoFlipIsSilent(CrashDisk left) throws IOException {
    var frames = frames(left);
    int last = frames.size() - 2; // in front of the mark
    int begin = begin(frames, last);
    assertTrue(frames.get(last).records() > 0, frames::toString);
    for (int bit = 8 * begin; bit < 8 * (begin + frames.get(last).size()); bit += 5) {
      var copy = left.copy();
      copy.flipBit(LOG, bit);
      var failure = assertThrows(StoreDamagedException.class, () -> FolderStore.open(copy, SMALL), "bit " + bit);
      assertEquals("a simulated disk: 00000001.log is damaged: frame " + frames.get(last).number() + " at " + begin
          + " was on disk, and is no longer whole; frame " + frames.getLast().number() + " at "
          + (begin + frames.get(last).size()) + " is whole. Nothing was changed; put back a copy of the file",
          failure.getMessage());
      var check = SalvagePlan.of(copy);
      assertFalse(check.isWhole(), check::toString);
      assertTrue(check.doubt().isEmpty(), check::toString);
    }
  }

  @Test
  void damagedLastTurnOfIdleStoreIsRefused() throws Exception {
    assertNoFlipIsSilent(killedWhenIdle(CrashDisk.empty(), SMALL, 3));
  }

  @Test
  void damagedLastTurnIsRefusedWithSyncInterval() throws Exception {
    assertNoFlipIsSilent(
        killedWhenIdle(CrashDisk.empty(), o -> SMALL.apply(o).withSyncInterval(Duration.ofMillis(1)), 3));
  }

  /** The first one was killed before it marked its turns. */
  @Test
  void openedStoreMarksTheTurnsThatItFound() throws Exception {
    var first = killedWhenIdle(CrashDisk.empty(), SMALL, 2);
    var frames = frames(first);
    var zeros = ByteBuffer.allocate(frames.getLast().size());
    first.write(LOG, begin(frames, frames.size() - 1), zeros);
    assertFalse(isMarked(first));

    assertNoFlipIsSilent(killedWhenIdle(first, SMALL, 0));
  }

  @Test
  void idleStoreWritesNothingAfterItsMark() throws Exception {
    var left = killedWhenIdle(CrashDisk.empty(), SMALL, 1);
    var writes = new AtomicInteger();
    left.beforeOperation(operation -> {
      if (operation.equals("write")) writes.incrementAndGet();
    });

    FolderStore.open(left, SMALL).close();

    assertEquals(2, writes.get()); // of the opening, which writes the mark again, and of the close
  }

  /** Without a mark, it cannot be told from a commit that the power cut off. */
  @Test
  void damagedLastTurnOfBusyStoreIsInDoubt() throws Exception {
    var left = killedWhenIdle(CrashDisk.empty(), SMALL, 2);
    var frames = frames(left);
    int last = frames.size() - 2;
    int begin = begin(frames, last);
    int size = frames.get(last).size();
    left.write(LOG, begin + size, ByteBuffer.allocate(frames.getLast().size()));
    left.flipBit(LOG, 8 * (begin + 4));

    var check = SalvagePlan.of(left);

    assertTrue(check.isWhole(), check::toString);
    assertTrue(check.toString().startsWith("a simulated disk is whole up to its end, which is in doubt: 1 actors, "),
        check::toString);
    assertEquals(begin, check.doubt().orElseThrow().offset());
    assertTrue(check.toString().contains("\nin doubt: " + LOG + " at " + begin + ": the last "), check::toString);
    assertTrue(check.toString().contains("the turns after " + Instant.ofEpochMilli(frames.get(last - 1).time()) + ", "),
        check::toString);
    try (var store = FolderStore.open(left, SMALL)) {
      assertEquals(1, store.load(ADA).lastTurn());
      assertEquals(List.of("00000001-" + begin + ".torn"), store.health().tornFiles());
    }
    assertTrue(SalvagePlan.of(left).doubt().isEmpty());
  }

  @Test
  void damagedLastTurnOfBackupIsRefused() throws Exception {
    var copy = CrashDisk.empty();
    try (var store = FolderStore.open(CrashDisk.empty(), SMALL)) {
      long life = store.load(ADA).life();
      for (int n = 1; n <= 3; n++) append(store, life, n);
      store.backup(copy);
    }

    assertNoFlipIsSilent(copy);
    try (var store = FolderStore.open(copy, SMALL)) {
      assertEquals(3, store.load(ADA).lastTurn());
    }
  }

  @Test
  void historySkipsMarks() throws Exception {
    var disk = CrashDisk.empty();
    try (var store = FolderStore.open(disk, SMALL)) {
      long life = store.load(ADA).life();
      var places = new ArrayList<String>(List.of(""));
      for (int n = 1; n <= 5; n++) {
        append(store, life, n);
        Patience.eventually(() -> isMarked(disk));
        for (int seen = 0; seen < n; seen++) {
          try (var history = store.history(ADA.kind(), places.get(seen))) {
            var turns = history.poll();
            assertEquals(n - seen, turns.size());
            assertEquals(n, turns.getLast().number());
            if (seen == n - 1) places.add(turns.getLast().offset());
          }
        }
      }
    }
  }

  /** Segments get full to their last byte, and a mark always has room. */
  @Test
  void eachTurnCanBeMarkedWhereverItsSegmentEnds() throws Exception {
    var disk = CrashDisk.empty();
    try (var store = FolderStore.open(disk, SMALL)) {
      long life = store.load(ADA).life();
      for (int n = 1; n <= 20; n++) {
        var body = new byte[150 + 8 * n];
        store.append(new Store.Turn(ADA, life, n, Instant.EPOCH, false, body, List.of(), List.of()))
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
