package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A process is killed or loses its power at a random moment, and perhaps a bit of its log changes
 * afterwards. An acknowledged commit is there, or the log refuses to open. One commit may be
 * missing, the last acknowledged one, if no frame was written behind it. The opening and the check
 * report that.
 */
class KillAndRotTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final int SEGMENT = 4096;
  private static final int ROUNDS = 4_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private int refused;
  private int doubted;
  private int missing;

  /** What a log has told. */
  private static final class Told {
    private final List<String> given = new ArrayList<>();
    private int told; // of those given
    private int proved; // of those told: a whole frame behind them is on disk, or in the memory of the machine
    private int forced; // of those proved: the frame behind them is on disk
  }

  @Test
  void acknowledgedCommitIsFoundOrRefusedOrLastInDoubt() throws IOException {
    System.out.println("kill and rot: -Dfibry.seed=" + seed);
    for (int round = 0; round < ROUNDS; round++) {
      var disk = CrashDisk.empty();
      var told = new Told();
      write(disk, told);
      boolean power = random.nextBoolean();
      var left = power ? disk.cutPower(random.nextLong()) : disk.copy();
      boolean rots = random.nextInt(4) > 0;
      if (rots) flip(left);
      check(left, told, power, rots);
    }
    System.out.println(refused + " refused, " + doubted + " in doubt, " + missing + " missing of " + ROUNDS);
    assertTrue(refused > ROUNDS / 10, () -> refused + " refused, seed " + seed);
    assertTrue(missing > 0, () -> "no commit was in doubt, seed " + seed);
  }

  private static SegmentLog open(CrashDisk disk, List<String> found) throws IOException {
    var spares = new SegmentPreallocator(disk, Runnable::run, SEGMENT, System::nanoTime);
    return SegmentLog.open(disk, StoreIdFile.open(disk, SEGMENT), spares,
        (place, frame, file) -> Frame.of(place, file).records()
            .forEach(record -> found.add(new String(LogRecord.of(record).body()))));
  }

  /** The kill comes behind a random step. */
  private void write(CrashDisk disk, Told told) throws IOException {
    var log = open(disk, new ArrayList<>());
    boolean marked = true;
    for (int steps = random.nextInt(24); steps > 0; steps--) {
      if (!marked && random.nextInt(3) == 0) { // idle
        log.markSynced(steps);
        told.proved = told.told;
        marked = true;
        continue;
      }
      String text = told.given.size() + ":" + "x".repeat(random.nextInt(700));
      told.given.add(text);
      var turn = new Store.Turn(ADA, 1, told.given.size(), Instant.EPOCH, false, text.getBytes(), List.of(), List.of());
      log.append(List.of(LogRecord.bytes(turn, false)), steps);
      told.proved = told.told;
      if (random.nextInt(8) == 0) return; // before the force
      log.sync();
      told.forced = told.proved;
      told.told = told.given.size();
      marked = false;
    }
    if (random.nextInt(8) > 0) return;
    log.close(0);
    told.proved = told.told;
    told.forced = told.told;
  }

  /** One bit of what is used of the log. */
  private void flip(CrashDisk left) throws IOException {
    var logs = left.names().stream().filter(Segment::isName).filter(name -> used(left, name) > Segment.HEADER).toList();
    if (logs.isEmpty()) return;
    var log = logs.get(random.nextInt(logs.size()));
    boolean end = random.nextBoolean(); // of the file: where the last frames are
    int from = end ? Math.max(0, used(left, log) - 800) : 0;
    left.flipBit(log, random.nextInt(8 * from, 8 * used(left, log)));
  }

  private static int used(CrashDisk disk, String name) {
    try {
      return LogReader.lastNonZero(new Segment(0, Segment.numberOf(name)).read(disk)) + 1;
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private void check(CrashDisk left, Told told, boolean power, boolean rots) throws IOException {
    var check = SalvagePlan.of(left);
    var found = new ArrayList<String>();
    SegmentLog log;
    try {
      log = open(left, found);
    } catch (StoreDamagedException damaged) {
      assertTrue(rots, () -> damaged + ", seed " + seed);
      assertFalse(check.isWhole(), () -> check + ", seed " + seed);
      refused++;
      return;
    }
    assertEquals(told.given.subList(0, found.size()), found, "seed " + seed);
    assertTrue(check.isWhole(), () -> check + ", seed " + seed);
    assertEquals(log.tornFiles().isEmpty(), check.doubt().isEmpty(), () -> check + ", seed " + seed);
    if (!log.tornFiles().isEmpty()) doubted++;
    int least = !rots ? told.told : power ? told.forced : told.proved;
    assertTrue(found.size() >= least, () -> found.size() + " of " + least + " were found, seed " + seed);
    if (found.size() >= told.told) return;
    missing++;
    assertEquals(told.told - 1, found.size(), "more than the last commit is missing, seed " + seed);
    assertEquals(1, log.tornFiles().size(), "a commit is missing without notice, seed " + seed);
  }
}
