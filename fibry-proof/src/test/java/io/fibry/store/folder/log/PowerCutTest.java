package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StoreException;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Tests the promises of a log after a power cut at every operation, for all disk images that the
 * cut may leave.
 */
class PowerCutTest {
  private static final int SEGMENT = 4096;
  private static final int MAX_IMAGES = 1 << 12; // per power cut; if more images are possible, random images

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final List<String> appendedRecords = new ArrayList<>();
  private int acknowledgedCount; // number of appended records that are acknowledged
  private long images;
  // The first failure; thrown at the end, because the log would treat it as a failure of its disk
  private Throwable failure;

  @Test
  void acknowledgedEntriesSurvivePowerCutWhole() throws Throwable {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, MAX_IMAGES, this::check);

    write(disk, true, random.ints(120, 1, 1800).toArray());

    checkAll();
  }

  @Test
  void powerCutDuringRestartLosesNothing() throws Throwable {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, 32, this::cutAgain);

    write(disk, true, 600, 1500, 40);
    write(disk, true, 1500, 1500, 1500);

    checkAll();
  }

  @Test
  void powerCutLosesOnlyEndOfUnsyncedLog() throws Throwable {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, MAX_IMAGES, this::check);

    write(disk, false, 40, 300, 8, 1100, 90, 1200, 1300);

    checkAll();
  }

  @Test
  void checkDetectsLogThatAcknowledgesUnsyncedEntries() throws IOException {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, 64, this::check);

    var log = open(disk, new ArrayList<>());
    for (int size : new int[] {40, 1500, 700}) {
      append(log, size);
      acknowledgedCount = appendedRecords.size(); // acknowledged without a sync
    }

    assertInstanceOf(AssertionError.class, failure);
  }

  @Test
  void entriesReadAfterKillSurvivePowerCut() throws Throwable {
    for (int frames = 1; frames < 6; frames++) {
      var disk = CrashDisk.empty();
      appendedRecords.clear();
      acknowledgedCount = 0;
      var log = open(disk, new ArrayList<>());
      for (int i = 0; i < frames; i++) append(log, 700); // not synced, except for records that fill a segment

      var records = new ArrayList<String>();
      open(disk, records);
      assertEquals(appendedRecords, records);
      acknowledgedCount = records.size();

      disk.forEachCrashState(64, random.nextLong(), this::check);
    }
  }

  @Test
  void entriesReadAfterFailedSyncSurvivePowerCut() throws Throwable {
    int failed = 0;
    for (boolean withSync : new boolean[] {true, false}) for (int failingSync = 1; failingSync < 20; failingSync++) {
      var disk = CrashDisk.empty();
      appendedRecords.clear();
      acknowledgedCount = 0;
      failSync(disk, failingSync);
      try {
        write(disk, withSync, 600, 1500, 40, 1500, 1500, 300);
      } catch (IOException | StoreException expected) {
        failed++;
      }
      disk.beforeOperation(operation -> {});

      var records = new ArrayList<String>();
      open(disk, records);
      assertEquals(appendedRecords.subList(0, acknowledgedCount),
          records.subList(0, Math.min(acknowledgedCount, records.size())));
      acknowledgedCount = records.size();

      disk.forEachCrashState(64, random.nextLong(), this::check);
    }
    assertTrue(failed > 15, failed + " failed");
  }

  private static void failSync(CrashDisk disk, int failingSync) {
    var syncs = new AtomicInteger();
    disk.beforeOperation(operation -> {
      if (operation.equals("sync") && syncs.incrementAndGet() == failingSync)
        throw new UncheckedIOException(new IOException("planned by the test"));
    });
  }

  private void cutEverywhere(CrashDisk disk, int maxImages, Consumer<CrashDisk> imageCheck) {
    disk.afterOperation(() -> {
      if (failure != null) return;
      try {
        disk.forEachCrashState(maxImages, random.nextLong(), imageCheck);
      } catch (Throwable newFailure) {
        failure = newFailure;
      }
    });
  }

  private void checkAll() throws Throwable {
    if (failure != null) throw new AssertionError("seed " + seed, failure);
    assertTrue(images > 1000, () -> images + " images, seed " + seed);
  }

  private void write(CrashDisk disk, boolean withSync, int... sizes) throws IOException {
    var log = open(disk, new ArrayList<>());
    for (int size : sizes) {
      append(log, size);
      if (!withSync) continue;
      log.sync();
      acknowledgedCount = appendedRecords.size();
      if (acknowledgedCount % 6 == 0) log.markSynced(0);
    }
    log.close(0);
    acknowledgedCount = appendedRecords.size();
  }

  private void append(SegmentLog log, int size) throws IOException {
    int number = appendedRecords.size();
    String first = number + ":" + "x".repeat(size);
    String second = number + 1 + ":";
    appendedRecords.add(first);
    appendedRecords.add(second);
    log.append(List.of(ByteBuffer.wrap(first.getBytes()), ByteBuffer.wrap(second.getBytes())), number);
  }

  private static SegmentLog open(CrashDisk disk, List<String> records) throws IOException {
    return TextLog.open(disk, SEGMENT, System::nanoTime, records);
  }

  private void check(CrashDisk image) {
    images++;
    var records = new ArrayList<String>();
    try {
      var log = open(image, records);
      checkRecords(records);
      log.append(List.of(ByteBuffer.wrap("more".getBytes())), 0);
      log.sync();
      var reopened = new ArrayList<String>();
      open(image, reopened);
      records.add("more");
      assertEquals(records, reopened, "seed " + seed);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void checkRecords(List<String> records) {
    assertTrue(records.size() >= acknowledgedCount,
        () -> "acknowledged " + acknowledgedCount + ", found " + records.size() + ", seed " + seed);
    assertEquals(appendedRecords.subList(0, records.size()), records, "seed " + seed);
    assertEquals(0, records.size() % 2, () -> "half of a frame, seed " + seed);
  }

  private void cutAgain(CrashDisk image) {
    cutEverywhere(image, 32, this::check);
    try {
      open(image, new ArrayList<>());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
