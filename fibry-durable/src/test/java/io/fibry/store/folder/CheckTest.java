package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreInUseException;
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

/** The check of a folder that is not opened, and the salvage of a damaged one. */
class CheckTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada"); // keeps events
  private static final Store.ActorId GRACE = new Store.ActorId("page", "grace"); // keeps its state

  @TempDir
  private Path home;

  private Path data() {
    return home.resolve("data");
  }

  private FolderStore open(Path folder) {
    return FolderStore.open(folder, options -> options.withSegmentBytes(1 << 14));
  }

  /** Turns of both, by turns; the third of each sends a message to the other. */
  private void fill(int turns) throws Exception {
    try (var store = open(data())) {
      long ada = store.load(ADA).life();
      long grace = store.load(GRACE).life();
      for (int i = 1; i <= turns; i++) {
        append(store, ADA, ada, i, false, GRACE);
        append(store, GRACE, grace, i, true, ADA);
      }
      store.enqueue(new Store.PendingMessage(ADA, "x:aside", Store.PendingMessage.NEVER, new byte[] {1}), 9)
          .toCompletableFuture()
          .get();
    }
  }

  private static void append(Store store, Store.ActorId id, long life, int number, boolean whole, Store.ActorId other)
      throws Exception {
    var sends = number != 3 ? List.<Store.PendingMessage>of()
        : List.of(new Store.PendingMessage(other, "m:" + id.key(), Instant.EPOCH, new byte[] {3}));
    store.append(new Store.Turn(id, life, number, Instant.EPOCH, whole, body(id, number), List.of(), sends))
        .toCompletableFuture().get();
  }

  private static byte[] body(Store.ActorId id, int number) {
    return ("<" + id.key() + " " + number + ">").getBytes(StandardCharsets.UTF_8);
  }

  private Map<String, ByteBuffer> files(Path folder) throws IOException {
    var files = new TreeMap<String, ByteBuffer>();
    try (var all = Files.list(folder)) {
      for (var file : all.filter(one -> !one.endsWith(FolderLock.FILE)).toList())
        files.put(file.getFileName().toString(), ByteBuffer.wrap(Files.readAllBytes(file)));
    }
    return files;
  }

  /** A byte of what a turn says is another one. */
  private void damage(Store.ActorId id, int number) throws IOException {
    String text = new String(body(id, number), StandardCharsets.UTF_8);
    for (var file : files(data()).entrySet()) {
      byte[] bytes = file.getValue().array();
      int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
      if (at < 0) continue;
      bytes[at] ^= 1;
      Files.write(data().resolve(file.getKey()), bytes);
    }
  }

  @Test
  void aFolderIsReadWithoutAChange() throws Exception {
    fill(400);
    var before = files(data());

    var check = FolderStore.check(data());

    assertTrue(check.isWhole(), check::toString);
    assertEquals(before, files(data()));
    assertEquals(List.of(2L, 2L, 1L), List.of(check.actors(), check.pendingMessages(), check.parkedMessages()));
    assertTrue(check.turns() >= 401 && check.turns() <= 800, check::toString); // states may have gone
    assertTrue(check.isClosed());
    assertEquals(List.of(), check.tornFiles());
    try (var store = open(data())) {
      assertEquals(store.health().bytes(), check.bytes());
    }
  }

  @Test
  void aFolderThatIsOpenIsRefused() throws Exception {
    fill(1);
    try (var store = open(data())) {
      assertThrows(StoreInUseException.class, () -> FolderStore.check(data()));
      assertThrows(StoreInUseException.class, () -> FolderStore.salvage(data(), home.resolve("new")));
      assertEquals(1, store.load(ADA).lastTurn());
    }
    assertTrue(FolderStore.check(data()).isWhole());
    assertThrows(UncheckedIOException.class, () -> FolderStore.check(home.resolve("none")));
    assertFalse(Files.exists(home.resolve("none")));
  }

  @Test
  void tornEndIsInDoubtAndNoDamage() throws Exception {
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
  void turnsAfterMissingTurnAreLostAndRestIsSalvaged() throws Exception {
    fill(9);
    damage(ADA, 6);
    damage(GRACE, 6); // a later state is whole
    var before = files(data());
    assertThrows(StoreDamagedException.class, () -> open(data()));

    var found = FolderStore.salvage(data(), home.resolve("new"));

    assertEquals(before, files(data()));
    assertEquals(List.of(new StoreCheck.LostTurns(ADA, 6, 6, "it is missing"),
        new StoreCheck.LostTurns(ADA, 7, 9, "it is whole, and comes after a turn that is missing")), found.lostTurns());
    assertEquals(List.of("00000001.log", "00000001.log"),
        found.defects().stream().filter(one -> one.actor().isPresent()).map(StoreCheck.Defect::file).toList());
    assertTrue(found.toString().contains("account 'ada': turn 6 is not as it was written"), found::toString);
    assertEquals(found.defects(), FolderStore.check(data()).defects());
    try (var store = open(home.resolve("new"))) {
      assertEquals(5, store.load(ADA).lastTurn());
      assertArrayEquals(body(ADA, 5), store.load(ADA).bodies().getLast());
      assertEquals(9, store.load(GRACE).lastTurn());
      assertEquals(List.of("m:grace", "x:aside"), store.load(ADA).pendingIds());
      assertEquals(List.of("m:ada"), store.load(GRACE).pendingIds());
      append(store, ADA, store.load(ADA).life(), 6, false, GRACE);
    }
    assertTrue(FolderStore.check(home.resolve("new")).isWhole());
  }

  @Test
  void missingFileIsReportedAndRestIsSalvaged() throws Exception {
    fill(400);
    var logs = files(data()).keySet().stream().filter(Segment::isName).toList();
    Files.delete(data().resolve(logs.get(1)));
    Files.delete(data().resolve(StoreIdFile.NAME));

    var found = FolderStore.salvage(data(), home.resolve("new"));

    assertFalse(found.isWhole());
    assertTrue(found.defects().stream().anyMatch(one -> one.what().startsWith("it is missing, and ")), found::toString);
    try (var store = open(home.resolve("new"))) {
      assertEquals(400, store.load(GRACE).lastTurn());
      assertTrue(store.load(ADA).lastTurn() < 400);
      assertEquals(store.load(ADA).lastTurn() + 1, found.lostTurns().getFirst().first());
      assertEquals(400, found.lostTurns().getLast().last());
    }
  }

  @Test
  void historyContinuesInSalvagedStore() throws Exception {
    fill(9);
    String place;
    try (var store = open(data()); var history = store.history("account", "")) {
      place = history.poll().getLast().offset();
    }
    damage(ADA, 8);
    FolderStore.salvage(data(), home.resolve("new"));

    try (var store = open(home.resolve("new")); var history = store.history("account", place)) {
      append(store, ADA, store.load(ADA).life(), 8, false, GRACE);

      assertEquals(List.of(8L), history.poll().stream().map(Store.StoredTurn::number).toList());
    }
  }

  @Test
  void salvageRefusesNonEmptyFolder() throws Exception {
    fill(1);

    assertThrows(IllegalArgumentException.class, () -> FolderStore.salvage(data(), home));
  }

  @Test
  void aCommandPrintsWhatIsThere() throws Exception {
    fill(9);
    assertEquals("0 " + FolderStore.check(data()), run(data().toString()));
    damage(ADA, 6);

    String printed = run(data().toString(), home.resolve("new").toString());

    assertTrue(printed.startsWith("1 " + data() + " is damaged: 2 actors, "), printed);
    assertTrue(printed.contains("\nlost: account 'ada', turn 7 to 9: it is whole, and"), printed);
    assertEquals("2 give the folder of a store; and an empty folder, if what is whole is to go there", run());
    assertTrue(FolderStore.check(home.resolve("new")).isWhole());
  }

  private static String run(String... folders) {
    try (var child = Child.java(List.of(), StoreCheck.class, folders)) {
      return child.exitCode() + " " + child.output();
    }
  }
}
