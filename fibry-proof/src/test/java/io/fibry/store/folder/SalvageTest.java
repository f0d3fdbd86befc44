package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A check reports every change of a store's bytes, and salvaged states were true once. */
class SalvageTest {
  private static final int SEGMENT = 4096;
  private static final int TURNS = 60;
  private static final int BITS = Soak.ON ? 43 : 331; // from one flipped bit to the next
  private static final int BYTES = Soak.ON ? 149 : 449; // from one length of a file to the next
  private static final List<Store.ActorId> ACTORS =
      Stream.of("ada", "grace").map(key -> new Store.ActorId("account", key)).toList();

  private final CrashDisk disk = CrashDisk.empty();

  SalvageTest() throws Exception {
    try (var store = open(disk)) {
      var lives = ACTORS.stream().collect(Collectors.toMap(id -> id, id -> store.load(id).life()));
      for (int n = 1; n <= TURNS; n++)
        for (var id : ACTORS) {
          boolean whole = id.key().equals("grace") && n % 7 == 0;
          store.append(new Store.Turn(id, lives.get(id), n, Instant.EPOCH, whole, body(n), List.of(), List.of()))
              .toCompletableFuture().get();
        }
    }
  }

  private static FolderStore open(StorageDirectory disk) {
    return FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT));
  }

  private static byte[] body(int number) {
    return ("turn " + number).getBytes();
  }

  @Test
  void aCheckFindsAFlippedBitWhereAnOpeningDoes() throws IOException {
    int damaged = 0;
    for (var name : disk.names()) {
      for (long bit = 0; bit < disk.size(name) * 8; bit += BITS) {
        var copy = disk.copy();
        copy.flipBit(name, (int) bit);
        if (isDamaged(copy, name + ", bit " + bit)) damaged++;
      }
    }
    assertTrue(damaged > 100, damaged + " were damaged");
  }

  @Test
  void aCheckFindsWhatIsMissingWhereAnOpeningDoes() throws IOException {
    for (var name : disk.names()) {
      var without = disk.copy();
      without.delete(name);
      isDamaged(without, "no " + name);
      for (int length = 0; length < disk.size(name); length += BYTES) {
        var copy = disk.copy();
        copy.truncate(name, length);
        isDamaged(copy, name + ", its first " + length + " bytes");
      }
    }
  }

  private static boolean isDamaged(CrashDisk copy, String what) throws IOException {
    var found = SalvagePlan.of(copy);
    if (!found.isWhole()) checkSaved(copy, found, what);
    boolean opened = false;
    try {
      open(copy).close();
      opened = true;
    } catch (StoreDamagedException refused) {
      // as it should
    }
    assertEquals(opened, found.isWhole(), () -> what + ": " + found);
    return !opened;
  }

  /** The first turns of each actor; and all that is missing is told. */
  private static void checkSaved(CrashDisk damaged, StoreCheck found, String what) throws IOException {
    var saved = CrashDisk.empty();
    LogSalvage.run(damaged, saved);
    try (var store = open(saved)) {
      for (var id : ACTORS) {
        var loaded = store.load(id);
        var expected = new ArrayList<String>();
        for (long n = loaded.lastTurn() - loaded.bodies().size() + 1; n <= loaded.lastTurn(); n++)
          expected.add("turn " + n);
        assertEquals(expected, loaded.bodies().stream().map(String::new).toList(), () -> what + ": " + found);
        boolean told = found.lostTurns().stream().anyMatch(lost -> lost.actor().equals(id) && lost.last() == TURNS)
            || found.defects().stream().anyMatch(wrong -> wrong.actor().isEmpty() || wrong.actor().get().equals(id));
        assertTrue(loaded.lastTurn() == TURNS || told,
            () -> what + ": " + id + " has " + loaded.lastTurn() + "; " + found);
      }
    }
  }
}
