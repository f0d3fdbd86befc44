package io.fibry.store.folder;

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

/** What a log promises, at every moment that a power cut may choose, with all that it may leave. */
class PowerCutTest {
  private static final int SEGMENT = 4096;
  private static final int ALL = 1 << 12; // images of a moment; of more, so many by chance

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final List<String> given = new ArrayList<>();
  private int told; // of those given
  private long images;
  private Throwable failure; // the first; not thrown where a log would take it for one of its disk

  @Test
  void acknowledgedEntriesSurvivePowerCutWhole() throws Throwable {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, ALL, this::check);

    write(disk, true, random.ints(120, 1, 1800).toArray());

    checkAll();
  }

  @Test
  void aRestartMayBeCutToo() throws Throwable {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, 32, this::cutAgain);

    write(disk, true, 600, 1500, 40);
    write(disk, true, 1500, 1500, 1500);

    checkAll();
  }

  @Test
  void unsyncedLogLosesOnlyItsEnd() throws Throwable {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, ALL, this::check);

    write(disk, false, 40, 300, 8, 1100, 90, 1200, 1300);

    checkAll();
  }

  @Test
  void logThatAcknowledgesUnsyncedEntriesIsCaught() throws IOException {
    var disk = CrashDisk.empty();
    cutEverywhere(disk, 64, this::check);

    var log = open(disk, new ArrayList<>());
    for (int size : new int[] {40, 1500, 700}) {
      append(log, size);
      told = given.size(); // without force
    }

    assertInstanceOf(AssertionError.class, failure);
  }

  @Test
  void entriesReadAfterKillSurvivePowerCut() throws Throwable {
    for (int frames = 1; frames < 6; frames++) {
      var disk = CrashDisk.empty();
      given.clear();
      told = 0;
      var log = open(disk, new ArrayList<>());
      for (int i = 0; i < frames; i++) append(log, 700); // not forced, but for what fills a file

      var found = new ArrayList<String>();
      open(disk, found);
      assertEquals(given, found);
      told = found.size();

      disk.forEachCrashState(64, random.nextLong(), this::check);
    }
  }

  @Test
  void entriesReadAfterFailedSyncSurvivePowerCut() throws Throwable {
    int failed = 0;
    for (boolean force : new boolean[] {true, false}) for (int which = 1; which < 20; which++) {
      var disk = CrashDisk.empty();
      given.clear();
      told = 0;
      failForce(disk, which);
      try {
        write(disk, force, 600, 1500, 40, 1500, 1500, 300);
      } catch (IOException | StoreException expected) {
        failed++;
      }
      disk.beforeOperation(operation -> {});

      var found = new ArrayList<String>();
      open(disk, found);
      told = found.size();

      disk.forEachCrashState(64, random.nextLong(), this::check);
    }
    assertTrue(failed > 15, failed + " failed");
  }

  private static void failForce(CrashDisk disk, int which) {
    var forces = new AtomicInteger();
    disk.beforeOperation(operation -> {
      if (operation.equals("sync") && forces.incrementAndGet() == which)
        throw new UncheckedIOException(new IOException("made up, for a test"));
    });
  }

  private void cutEverywhere(CrashDisk disk, int most, Consumer<CrashDisk> use) {
    disk.afterOperation(() -> {
      if (failure != null) return;
      try {
        disk.forEachCrashState(most, random.nextLong(), use);
      } catch (Throwable found) {
        failure = found;
      }
    });
  }

  private void checkAll() throws Throwable {
    if (failure != null) throw new AssertionError("seed " + seed, failure);
    assertTrue(images > 1000, () -> images + " images, seed " + seed);
  }

  private void write(CrashDisk disk, boolean force, int... sizes) throws IOException {
    var log = open(disk, new ArrayList<>());
    for (int size : sizes) {
      append(log, size);
      if (!force) continue;
      log.sync();
      told = given.size();
      if (told % 6 == 0) log.markSynced(0);
    }
    log.close(0);
    told = given.size();
  }

  private void append(SegmentLog log, int size) throws IOException {
    int number = given.size();
    String one = number + ":" + "x".repeat(size);
    String two = number + 1 + ":";
    given.add(one);
    given.add(two);
    log.append(List.of(ByteBuffer.wrap(one.getBytes()), ByteBuffer.wrap(two.getBytes())), number);
  }

  private static SegmentLog open(CrashDisk disk, List<String> found) throws IOException {
    return TextLog.open(disk, SEGMENT, System::nanoTime, found);
  }

  private void check(CrashDisk image) {
    images++;
    var found = new ArrayList<String>();
    try {
      var log = open(image, found);
      checkFound(found);
      log.append(List.of(ByteBuffer.wrap("more".getBytes())), 0);
      log.sync();
      var again = new ArrayList<String>();
      open(image, again);
      found.add("more");
      assertEquals(found, again, "seed " + seed);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void checkFound(List<String> found) {
    assertTrue(found.size() >= told, () -> "told " + told + ", found " + found.size() + ", seed " + seed);
    assertEquals(given.subList(0, found.size()), found, "seed " + seed);
    assertEquals(0, found.size() % 2, () -> "half a frame, seed " + seed);
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
