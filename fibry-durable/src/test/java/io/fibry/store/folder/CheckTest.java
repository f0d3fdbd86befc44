package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreInUseException;
import io.fibry.store.folder.log.LogReader;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.folder.log.StoreIdFile;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Child;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the check of a closed folder, and the salvage of a damaged folder. */
class CheckTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada"); // stores events
  private static final Store.ActorId GRACE = new Store.ActorId("page", "grace"); // stores its state

  @TempDir
  private Path temporary;

  private Path data() {
    return temporary.resolve("data");
  }

  private LogStore open(Path folder) {
    return (LogStore) FolderStore.open(folder, options -> options.withSegmentBytes(1 << 14));
  }

  /** Stores turns of both actors alternately. Turn 3 of each sends a message to the other actor. */
  private void fill(int turns) throws Exception {
    try (var store = open(data())) {
      long adaLife = store.load(ADA).life();
      long graceLife = store.load(GRACE).life();
      for (int i = 1; i <= turns; i++) {
        append(store, ADA, adaLife, i, false, GRACE);
        append(store, GRACE, graceLife, i, true, ADA);
      }
      store
          .enqueue(new StoreBackend.PendingMessage(ADA, "x:aside", StoreBackend.PendingMessage.NEVER, new byte[] {1}),
              9)
          .toCompletableFuture()
          .get();
    }
  }

  private static void append(StoreBackend store, Store.ActorId id, long life, int number, boolean full,
      Store.ActorId recipient) throws Exception {
    var sends = number != 3 ? List.<StoreBackend.PendingMessage>of()
        : List.of(new StoreBackend.PendingMessage(recipient, "m:" + id.key(), Instant.EPOCH, new byte[] {3}));
    store.append(new StoreBackend.Turn(id, life, number, Instant.EPOCH, full, body(id, number), List.of(), sends))
        .toCompletableFuture().get();
  }

  private static byte[] body(Store.ActorId id, int number) {
    return ("<" + id.key() + " " + number + ">").getBytes(StandardCharsets.UTF_8);
  }

  private Map<String, ByteBuffer> files(Path folder) throws IOException {
    var files = new TreeMap<String, ByteBuffer>();
    try (var paths = Files.list(folder)) {
      for (var file : paths.filter(path -> !path.endsWith("store.lock")).toList())
        files.put(file.getFileName().toString(), ByteBuffer.wrap(Files.readAllBytes(file)));
    }
    return files;
  }

  /** Flips a bit in the stored body of a turn. */
  private void damage(Store.ActorId id, int number) throws IOException {
    String text = new String(body(id, number), StandardCharsets.UTF_8);
    for (var file : files(data()).entrySet()) {
      byte[] bytes = file.getValue().array();
      int position = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
      if (position < 0) continue;
      bytes[position] ^= 1;
      Files.write(data().resolve(file.getKey()), bytes);
    }
  }

  @Test
  void checkDoesNotChangeFolder() throws Exception {
    fill(400);
    var filesBefore = files(data());

    var check = FolderStore.check(data());

    assertTrue(check.isWhole(), check::toString);
    assertEquals(filesBefore, files(data()));
    assertEquals(List.of(2L, 2L, 1L), List.of(check.actors(), check.pendingMessages(), check.parkedMessages()));
    assertTrue(check.turns() >= 401 && check.turns() <= 800, check::toString); // replaced states may have been removed
    assertTrue(check.isClosed());
    assertEquals(List.of(), check.tornFiles());
    try (var store = open(data())) {
      assertEquals(store.health().bytes(), check.bytes());
    }
  }

  @Test
  void checkAndSalvageRefuseOpenFolder() throws Exception {
    fill(1);
    try (var store = open(data())) {
      assertThrows(StoreInUseException.class, () -> FolderStore.check(data()));
      assertThrows(StoreInUseException.class, () -> FolderStore.salvage(data(), temporary.resolve("new")));
      assertEquals(1, store.load(ADA).lastTurn());
    }
    assertTrue(FolderStore.check(data()).isWhole());
    assertThrows(UncheckedIOException.class, () -> FolderStore.check(temporary.resolve("none")));
    assertFalse(Files.exists(temporary.resolve("none")));
  }

  @Test
  void tornEndOfLogIsReportedAsDoubtAndNotAsDamage() throws Exception {
    fill(2);
    var log = data().resolve("00000001.log");
    byte[] bytes = Files.readAllBytes(log);
    int end = LogReader.lastNonZero(ByteBuffer.wrap(bytes)) / 8 * 8 + 8;
    bytes[end] = 1;
    Files.write(log, bytes);

    var check = FolderStore.check(data());

    assertTrue(check.isWhole(), check::toString);
    var doubt = check.doubt().orElseThrow();
    assertEquals("00000001.log at " + end, doubt.file() + " at " + doubt.offset());
    assertTrue(doubt.what().startsWith("the last 1 bytes of the log are a commit that was cut off"), doubt::what);
    assertFalse(check.isClosed());
    assertEquals("3 " + check, run(data().toString()));
  }

  @Test
  void salvageKeepsTurnsBeforeDamagedTurn() throws Exception {
    fill(9);
    damage(ADA, 6);
    damage(GRACE, 6); // the later full states of Grace are undamaged
    var filesBefore = files(data());
    assertThrows(StoreDamagedException.class, () -> open(data()));

    var check = FolderStore.salvage(data(), temporary.resolve("new"));

    assertEquals(filesBefore, files(data()));
    assertEquals(List.of(new StoreCheck.LostTurns(ADA, 6, 6, "it is missing"),
        new StoreCheck.LostTurns(ADA, 7, 9, "it is whole, and comes after a turn that is missing")), check.lostTurns());
    assertEquals(List.of("00000001.log", "00000001.log"),
        check.defects().stream().filter(defect -> defect.actor().isPresent()).map(StoreCheck.Defect::file).toList());
    assertTrue(check.toString().contains("account 'ada': turn 6 is not as it was written"), check::toString);
    assertEquals(check.defects(), FolderStore.check(data()).defects());
    try (var store = open(temporary.resolve("new"))) {
      assertEquals(5, store.load(ADA).lastTurn());
      assertArrayEquals(body(ADA, 5), store.load(ADA).bodies().getLast());
      assertEquals(9, store.load(GRACE).lastTurn());
      assertEquals(List.of("m:grace", "x:aside"), store.load(ADA).pendingIds());
      assertEquals(List.of("m:ada"), store.load(GRACE).pendingIds());
      append(store, ADA, store.load(ADA).life(), 6, false, GRACE);
    }
    assertTrue(FolderStore.check(temporary.resolve("new")).isWhole());
  }

  @Test
  void missingFileIsReportedAndOtherFilesAreSalvaged() throws Exception {
    fill(400);
    var logs = files(data()).keySet().stream().filter(Segment::isName).toList();
    Files.delete(data().resolve(logs.get(1)));
    Files.delete(data().resolve(StoreIdFile.NAME));

    var check = FolderStore.salvage(data(), temporary.resolve("new"));

    assertFalse(check.isWhole());
    assertTrue(check.defects().stream().anyMatch(d -> d.what().startsWith("it is missing, and ")), check::toString);
    try (var store = open(temporary.resolve("new"))) {
      assertEquals(400, store.load(GRACE).lastTurn());
      assertTrue(store.load(ADA).lastTurn() < 400);
      assertEquals(store.load(ADA).lastTurn() + 1, check.lostTurns().getFirst().first());
      assertEquals(400, check.lostTurns().getLast().last());
    }
  }

  @Test
  void historyOfSalvagedStoreContinuesAtOldOffset() throws Exception {
    fill(9);
    String offset;
    try (var store = open(data()); var history = store.history("account", "")) {
      offset = history.poll().getLast().offset();
    }
    damage(ADA, 8);
    FolderStore.salvage(data(), temporary.resolve("new"));

    try (var store = open(temporary.resolve("new")); var history = store.history("account", offset)) {
      append(store, ADA, store.load(ADA).life(), 8, false, GRACE);

      assertEquals(List.of(8L), history.poll().stream().map(StoreBackend.StoredTurn::number).toList());
    }
  }

  @Test
  void salvageRefusesNonEmptyFolder() throws Exception {
    fill(1);

    assertThrows(IllegalArgumentException.class, () -> FolderStore.salvage(data(), temporary));
  }

  @Test
  void commandPrintsCheckResultAndSalvagesStore() throws Exception {
    fill(9);
    assertEquals("0 " + FolderStore.check(data()), run(data().toString()));
    damage(ADA, 6);

    String output = run(data().toString(), temporary.resolve("new").toString());

    assertTrue(output.startsWith("1 " + data() + " is damaged: 2 actors, "), output);
    assertTrue(output.contains("\nlost: account 'ada', turn 7 to 9: it is whole, and"), output);
    assertEquals("2 give the folder of a store, and optionally an empty folder for its intact part", run());
    assertTrue(FolderStore.check(temporary.resolve("new")).isWhole());
  }

  private static String run(String... folders) {
    try (var child = Child.java(List.of(), StoreCheck.class, folders)) {
      return child.exitCode() + " " + child.output();
    }
  }
}
