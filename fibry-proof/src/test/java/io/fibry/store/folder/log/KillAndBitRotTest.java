package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.repair.SalvagePlan;
import io.fibry.store.spi.StoreBackend;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Tests a process that is killed or loses its power at a random moment; in some rounds a bit of its
 * log changes afterwards. Every acknowledged commit is found, or the log refuses to open. Only the
 * last acknowledged commit may be missing without a refusal, if no frame was written behind it. In
 * this case the opening and the check report the loss.
 */
class KillAndBitRotTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final int SEGMENT = 4096;
  private static final int ROUNDS = 4_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private int refused;
  private int inDoubt;
  private int missing;

  /** The records of a log, and how many of them must be found. */
  private static final class ExpectedLog {
    private final List<String> writtenRecords = new ArrayList<>();
    private int acknowledgedCount; // acknowledged records
    // Acknowledged records behind which a whole frame is on disk or in the memory of the machine
    private int provedCount;
    private int syncedCount; // proved records behind which a frame is on disk
  }

  @Test
  void openFindsAcknowledgedCommitOrReportsItsLoss() throws IOException {
    System.out.println("kill and rot: -Dfibry.seed=" + seed);
    for (int round = 0; round < ROUNDS; round++) {
      var disk = CrashDisk.empty();
      var expected = new ExpectedLog();
      write(disk, expected);
      boolean isPowerCut = random.nextBoolean();
      var damaged = isPowerCut ? disk.cutPower(random.nextLong()) : disk.copy();
      boolean hasRot = random.nextInt(4) > 0;
      if (hasRot) flip(damaged);
      check(damaged, expected, isPowerCut, hasRot);
    }
    System.out.println(refused + " refused, " + inDoubt + " in doubt, " + missing + " missing of " + ROUNDS);
    assertTrue(refused > ROUNDS / 10, () -> refused + " refused, seed " + seed);
    assertTrue(missing > 0, () -> "no commit was in doubt, seed " + seed);
  }

  private static SegmentLog open(CrashDisk disk, List<String> records) throws IOException {
    var preallocator = new SegmentPreallocator(disk, Runnable::run, SEGMENT, System::nanoTime);
    return SegmentLog.open(disk, StoreIdFile.readOrCreate(disk, SEGMENT), preallocator,
        (position, frame, file) -> Frame.of(position, file).records()
            .forEach(record -> records.add(new String(LogRecord.of(record).body()))));
  }

  /**
   * Writes records, and returns in the middle of a random step, as if the process were killed
   * there.
   */
  private void write(CrashDisk disk, ExpectedLog expected) throws IOException {
    var log = open(disk, new ArrayList<>());
    boolean isMarked = true;
    for (int steps = random.nextInt(24); steps > 0; steps--) {
      if (!isMarked && random.nextInt(3) == 0) { // idle
        log.markSynced(steps);
        expected.provedCount = expected.acknowledgedCount;
        isMarked = true;
        continue;
      }
      String text = expected.writtenRecords.size() + ":" + "x".repeat(random.nextInt(700));
      expected.writtenRecords.add(text);
      var turn = new StoreBackend.Turn(ADA, 1, expected.writtenRecords.size(), Instant.EPOCH, false, text.getBytes(),
          List.of(), List.of());
      log.append(List.of(LogRecord.bytes(turn, false)), steps);
      expected.provedCount = expected.acknowledgedCount;
      if (random.nextInt(8) == 0) return; // before the sync
      log.sync();
      expected.syncedCount = expected.provedCount;
      expected.acknowledgedCount = expected.writtenRecords.size();
      isMarked = false;
    }
    if (random.nextInt(8) > 0) return;
    log.close(0);
    expected.provedCount = expected.acknowledgedCount;
    expected.syncedCount = expected.acknowledgedCount;
  }

  /** Flips one bit in the used part of a file of the log. */
  private void flip(CrashDisk disk) throws IOException {
    var logs = disk.names().stream().filter(Segment::isName).filter(name -> used(disk, name) > Segment.HEADER).toList();
    if (logs.isEmpty()) return;
    var log = logs.get(random.nextInt(logs.size()));
    boolean nearEnd = random.nextBoolean(); // near the end of the file, where the last frames are
    int firstByte = nearEnd ? Math.max(0, used(disk, log) - 800) : 0;
    disk.flipBit(log, random.nextInt(8 * firstByte, 8 * used(disk, log)));
  }

  private static int used(CrashDisk disk, String name) {
    try {
      return LogReader.lastNonZero(new Segment(0, Segment.numberOf(name)).read(disk)) + 1;
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private void check(CrashDisk disk, ExpectedLog expected, boolean isPowerCut, boolean hasRot) throws IOException {
    var plan = SalvagePlan.of(disk);
    var records = new ArrayList<String>();
    SegmentLog log;
    try {
      log = open(disk, records);
    } catch (StoreDamagedException damaged) {
      assertTrue(hasRot, () -> damaged + ", seed " + seed);
      assertFalse(plan.isWhole(), () -> plan + ", seed " + seed);
      refused++;
      return;
    }
    assertEquals(expected.writtenRecords.subList(0, records.size()), records, "seed " + seed);
    assertTrue(plan.isWhole(), () -> plan + ", seed " + seed);
    assertEquals(log.tornFiles().isEmpty(), plan.doubt().isEmpty(), () -> plan + ", seed " + seed);
    if (!log.tornFiles().isEmpty()) inDoubt++;
    int minRecords = !hasRot ? expected.acknowledgedCount : isPowerCut ? expected.syncedCount : expected.provedCount;
    assertTrue(records.size() >= minRecords, () -> records.size() + " of " + minRecords + " were found, seed " + seed);
    if (records.size() >= expected.acknowledgedCount) return;
    missing++;
    assertEquals(expected.acknowledgedCount - 1, records.size(), "more than the last commit is missing, seed " + seed);
    assertEquals(1, log.tornFiles().size(), "a commit is missing without notice, seed " + seed);
  }
}
