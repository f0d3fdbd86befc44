package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.repair.LogSalvage;
import io.fibry.store.folder.repair.SalvagePlan;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests that a check reports a change of a store's bytes exactly if the store can no longer be
 * opened. A salvaged store must have only states that existed at some time.
 */
class SalvageTest {
  private static final int SEGMENT = 4096;
  private static final int TURNS = 60;
  private static final int BIT_STEP = Soak.ON ? 43 : 331; // from one flipped bit to the next
  private static final int BYTE_STEP = Soak.ON ? 149 : 449; // from one length of a file to the next
  private static final List<Store.ActorId> ACTORS =
      Stream.of("ada", "grace").map(key -> new Store.ActorId("account", key)).toList();

  private final CrashDisk disk = CrashDisk.empty();

  SalvageTest() throws Exception {
    try (var store = open(disk)) {
      var lives = ACTORS.stream().collect(Collectors.toMap(id -> id, id -> store.load(id).life()));
      for (int n = 1; n <= TURNS; n++)
        for (var id : ACTORS) {
          boolean isFullState = id.key().equals("grace") && n % 7 == 0;
          store
              .append(new StoreBackend.Turn(id, lives.get(id), n, Instant.EPOCH, isFullState, body(n), List.of(),
                  List.of()))
              .toCompletableFuture().get();
        }
    }
  }

  private static StoreBackend open(StorageDirectory disk) {
    return StoreBackend.of(FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT)));
  }

  private static byte[] body(int number) {
    return ("turn " + number).getBytes();
  }

  @Test
  void checkReportsFlippedBitExactlyIfOpeningFails() throws IOException {
    int damaged = 0;
    for (var name : disk.names()) {
      for (long bit = 0; bit < disk.size(name) * 8; bit += BIT_STEP) {
        var copy = disk.copy();
        copy.flipBit(name, (int) bit);
        if (isDamaged(copy, name + ", bit " + bit)) damaged++;
      }
    }
    assertTrue(damaged > 100, damaged + " were damaged");
  }

  @Test
  void checkReportsMissingDataExactlyIfOpeningFails() throws IOException {
    for (var name : disk.names()) {
      var incomplete = disk.copy();
      incomplete.delete(name);
      isDamaged(incomplete, "no " + name);
      for (int length = 0; length < disk.size(name); length += BYTE_STEP) {
        var copy = disk.copy();
        copy.truncate(name, length);
        isDamaged(copy, name + ", its first " + length + " bytes");
      }
    }
  }

  private static boolean isDamaged(CrashDisk copy, String change) throws IOException {
    var check = SalvagePlan.of(copy);
    if (!check.isWhole()) checkSalvaged(copy, check, change);
    boolean isOpened = false;
    try {
      open(copy).close();
      isOpened = true;
    } catch (StoreDamagedException refused) {
      // the damage is detected
    }
    assertEquals(isOpened, check.isWhole(), () -> change + ": " + check);
    return !isOpened;
  }

  /**
   * Checks that the salvaged store has the first turns of each actor, and that the check reports
   * all missing turns.
   */
  private static void checkSalvaged(CrashDisk damaged, StoreCheck check, String change) throws IOException {
    var salvaged = CrashDisk.empty();
    LogSalvage.run(damaged, salvaged);
    try (var store = open(salvaged)) {
      for (var id : ACTORS) {
        var loaded = store.load(id);
        var expected = new ArrayList<String>();
        for (long n = loaded.lastTurn() - loaded.bodies().size() + 1; n <= loaded.lastTurn(); n++)
          expected.add("turn " + n);
        assertEquals(expected, loaded.bodies().stream().map(String::new).toList(), () -> change + ": " + check);
        boolean isReported = check.lostTurns().stream()
            .anyMatch(lost -> lost.actor().equals(id) && lost.last() == TURNS)
            || check.defects().stream().anyMatch(defect -> defect.actor().isEmpty() || defect.actor().get().equals(id));
        assertTrue(loaded.lastTurn() == TURNS || isReported,
            () -> change + ": " + id + " has " + loaded.lastTurn() + "; " + check);
      }
    }
  }
}
