package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StoreDamagedException;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that a log detects damaged and missing files. */
class DamageTest {
  private static final int SEGMENT = 2048;
  private static final int BIT_STEP = Soak.ON ? 1 : 3; // from one flipped bit to the next

  private final CrashDisk disk = CrashDisk.empty();
  private final List<String> written = new ArrayList<>();

  DamageTest() throws IOException {
    write(disk).close(0);
  }

  private SegmentLog write(CrashDisk disk) throws IOException {
    var log = open(disk, new ArrayList<>());
    for (int i = 0; i < 24; i++) append(log, i + "x".repeat(i * 17 % 300));
    return log;
  }

  private void append(SegmentLog log, String record) throws IOException {
    log.append(List.of(ByteBuffer.wrap(record.getBytes())), 0);
    log.sync();
    written.add(record);
  }

  private static SegmentLog open(CrashDisk disk, List<String> records) throws IOException {
    return TextLog.open(disk, SEGMENT, System::nanoTime, records);
  }

  /**
   * A log either refuses to open or is complete: it never opens with fewer records than were
   * written.
   */
  @Test
  void flippedBitIsDetected() throws IOException {
    assertFlippedBitsAreDetected(disk);
  }

  /** Repeats the test for a process that was killed while it was idle. */
  @Test
  void flippedBitIsDetectedInLogOfKilledIdleProcess() throws IOException {
    written.clear();
    var killedDisk = CrashDisk.empty();
    write(killedDisk).markSynced(0);
    assertFlippedBitsAreDetected(killedDisk);
  }

  private void assertFlippedBitsAreDetected(CrashDisk disk) throws IOException {
    int refused = 0;
    for (var name : disk.names()) {
      for (int bit = 0; bit < disk.size(name) * 8; bit += BIT_STEP) {
        var copy = disk.copy();
        copy.flipBit(name, bit);
        if (isRefused(copy, name + ", bit " + bit)) refused++;
      }
    }
    assertTrue(refused > 10_000 / BIT_STEP, refused + " were refused");
  }

  @Test
  void truncatedFileIsDetected() throws IOException {
    for (var name : disk.names()) {
      for (int length = 0; length < disk.size(name); length++) {
        var copy = disk.copy();
        copy.truncate(name, length);
        isRefused(copy, name + ", its first " + length + " bytes");
      }
    }
  }

  @Test
  void missingFileIsDetected() throws IOException {
    for (var name : disk.names()) {
      var copy = disk.copy();
      copy.delete(name);
      isRefused(copy, "no " + name);
    }
  }

  @Test
  void openIsRefusedWhenAllSegmentsAreMissing() throws IOException {
    for (var name : disk.names()) if (name.endsWith(".log")) disk.delete(name);

    var failure = assertThrows(StoreDamagedException.class, () -> open(disk, new ArrayList<>()));

    assertTrue(failure.getMessage().contains("it is missing, as all other segments are"), failure.getMessage());
  }

  @Test
  void exchangedSegmentsAreDetectedAtOpening() throws IOException {
    disk.rename("00000001.log", "x");
    disk.rename("00000002.log", "00000001.log");
    disk.rename("x", "00000002.log");

    var failure = assertThrows(StoreDamagedException.class, () -> open(disk, new ArrayList<>()));

    assertEquals("a simulated disk: 00000001.log is damaged: it is segment 2. Nothing was changed; restore the file "
        + "from a backup", failure.getMessage());
  }

  @Test
  void refusedOpenOfDamagedLogChangesNoFile() throws IOException {
    disk.flipBit("00000001.log", 800);
    var before = content("00000001.log");

    var failure = assertThrows(StoreDamagedException.class, () -> open(disk, new ArrayList<>()));

    assertTrue(failure.getMessage().contains("was on disk, and is no longer intact"), failure.getMessage());
    assertEquals(before, content("00000001.log"));
  }

  private ByteBuffer content(String name) throws IOException {
    var content = ByteBuffer.allocate((int) disk.size(name));
    disk.read(name, 0, content);
    return content.flip();
  }

  private boolean isRefused(CrashDisk copy, String change) throws IOException {
    var records = new ArrayList<String>();
    try {
      open(copy, records);
    } catch (StoreDamagedException refused) {
      return true;
    }
    assertTrue(written.equals(records), change + ": " + records.size() + " records of " + written.size());
    return false;
  }
}
