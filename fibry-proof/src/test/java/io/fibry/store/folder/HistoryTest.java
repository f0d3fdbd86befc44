package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.fibry.test.CrashDisk;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Tests that stored turns are read once and in order, even while files are rewritten. */
class HistoryTest {
  private static final int SEGMENT = 1 << 13;
  private static final int ACTORS = 4;
  private static final int TURNS = 6_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final CrashDisk disk = CrashDisk.empty();

  private LogStore open() {
    return (LogStore) FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT));
  }

  private static StoreBackend.Turn turn(String kind, int actor, long life, long number, boolean isFullState,
      int bytes) {
    return new StoreBackend.Turn(new Store.ActorId(kind, "a" + actor), life, number, Instant.EPOCH, isFullState,
        new byte[bytes], List.of(), List.of());
  }

  /**
   * Writes events of some actors, and replaces the state of another actor so that files are
   * rewritten. Continues until files were rewritten, because the rewriting thread may be late.
   */
  private Void write(StoreBackend store, Random random) throws Exception {
    long life = store.load(new Store.ActorId("state", "a0")).life();
    var lives = new long[ACTORS];
    var lastTurns = new long[ACTORS];
    for (int i = 0; i < ACTORS; i++) lives[i] = store.load(new Store.ActorId("event", "a" + i)).life();
    for (long n = 1; n <= TURNS; n++) {
      var stored = store.append(turn("state", 0, life, n, true, random.nextInt(60)));
      int actor = random.nextInt(ACTORS);
      if (random.nextInt(3) == 0)
        stored = store.append(turn("event", actor, lives[actor], ++lastTurns[actor], false, random.nextInt(40)));
      if (random.nextInt(40) == 0) store.snapshot(turn("event", actor, lives[actor], lastTurns[actor], true, 10));
      if (random.nextInt(5) == 0) stored.toCompletableFuture().get();
    }
    long[] stateTurn = {TURNS};
    Patience.eventually("no file was rewritten", () -> {
      store.append(turn("state", 0, life, ++stateTurn[0], true, 30)).toCompletableFuture().join();
      return disk.names().size() < 60;
    });
    store.append(turn("event", 0, lives[0], lastTurns[0] + 1, false, 1_000)).toCompletableFuture().get();
    return null;
  }

  /** Reads all turns, up to the large turn at the end. */
  private static List<StoreBackend.StoredTurn> read(StoreBackend store, String offset, Random random)
      throws InterruptedException {
    var turns = new ArrayList<StoreBackend.StoredTurn>();
    try (var history = store.history("event", offset)) {
      while (turns.isEmpty() || turns.getLast().body().length < 1_000) {
        turns.addAll(history.take());
        for (int i = random.nextInt(200); i > 0; i--) Thread.onSpinWait();
      }
    }
    return turns;
  }

  private static List<String> names(List<StoreBackend.StoredTurn> turns) {
    return turns.stream().map(turn -> turn.key() + " " + turn.number()).toList();
  }

  @Test
  void eachTurnIsReadOnceWhileFilesAreRewritten() throws Exception {
    System.out.println("history: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    List<StoreBackend.StoredTurn> turns;
    try (var store = open(); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var reader = threads.submit(() -> read(store, "", new Random(seed)));
      var writer = threads.submit(() -> write(store, new Random(seed + 1)));
      try {
        writer.get();
      } catch (Throwable failure) {
        reader.cancel(true); // its last turn will not come
        throw failure;
      }
      turns = reader.get();
      checkReadsFromOffsets(store, turns, random);
    }
    var expected = new long[ACTORS];
    for (var turn : turns)
      assertEquals(++expected[Integer.parseInt(turn.key().substring(1))], turn.number(), () -> "seed " + seed);
    try (var store = open()) {
      checkReadsFromOffsets(store, turns, random);
    }
  }

  private void checkReadsFromOffsets(StoreBackend store, List<StoreBackend.StoredTurn> turns, Random random)
      throws InterruptedException {
    assertEquals(names(turns), names(read(store, "", random)), () -> "seed " + seed);
    for (int i = 0; i < 20; i++) {
      int index = random.nextInt(turns.size() - 1);
      assertEquals(names(turns.subList(index + 1, turns.size())), names(read(store, turns.get(index).offset(), random)),
          () -> "seed " + seed);
    }
  }

  @Test
  void expiredEventsAreDeleted() throws Exception {
    long[] lastTurn = {0};
    try (var store = open()) {
      store.setRetention("event", Duration.ofDays(1)); // all events have times in 1970
      long life = store.load(new Store.ActorId("event", "a0")).life();
      while (lastTurn[0] < TURNS) writeEvent(store, life, ++lastTurn[0]);
      Patience.eventually("the files grow", () -> { // the rewriting thread may be late
        writeEvent(store, life, ++lastTurn[0]);
        return store.health().bytes() < 12 * SEGMENT;
      });
    }

    try (var store = open()) {
      assertEquals(lastTurn[0], store.load(new Store.ActorId("event", "a0")).lastTurn());
      try (var history = store.history("event", "")) {
        assertTrue(history.take().getFirst().number() > TURNS / 2);
      }
    }
  }

  private static void writeEvent(StoreBackend store, long life, long n) {
    var stored = store.append(turn("event", 0, life, n, false, 40));
    if (n % 100 == 0) store.snapshot(turn("event", 0, life, n, true, 40));
    if (n % 10 == 0) stored.toCompletableFuture().join();
  }

  @Test
  void historyReadsTurnsThatFillSegment() throws Exception {
    try (var store = (LogStore) FolderStore.open(disk, options -> options.withSegmentBytes(2 << 20))) {
      long life = store.load(new Store.ActorId("event", "a0")).life();
      for (long n = 1; n <= 3; n++)
        store.append(turn("event", 0, life, n, false, (int) n << 19)).toCompletableFuture().get();

      try (var history = store.history("event", "")) {
        for (long n = 1; n <= 3; n++) {
          var turns = history.take();
          assertEquals(List.of("a0 " + n), names(turns));
          assertEquals(n << 19, turns.getFirst().body().length);
        }
      }
    }
  }

  @Test
  void historyWaitsUntilEventIsSynced() throws Exception {
    try (var store = (LogStore) FolderStore.open(disk, options -> options.withSyncInterval(Duration.ofDays(1)));
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      long life = store.load(new Store.ActorId("event", "a0")).life();
      store.append(turn("event", 0, life, 1, false, 1)).toCompletableFuture().get();
      try (var history = store.history("event", "")) { // closed before the executor, which waits for the reader
        var thread = new CompletableFuture<Thread>();
        var turns = threads.submit(() -> {
          thread.complete(Thread.currentThread());
          return history.take();
        });
        var reader = Patience.value(thread);
        Patience.eventually(() -> Patience.isParked(reader) || turns.isDone());

        assertFalse(turns.isDone());
      }
    }
  }

  @Test
  void historyRefusesToReadDamagedTurn() throws Exception {
    try (var store = open()) {
      long life = store.load(new Store.ActorId("event", "a0")).life();
      store.append(turn("event", 0, life, 1, false, 100)).toCompletableFuture().get();
      disk.flipBit("00000001.log", 8L * (Segment.HEADER + Frame.RECORDS_OFFSET + 40));

      try (var history = store.history("event", "")) {
        assertEquals(
            "the store in a simulated disk: 00000001.log is damaged at 40, where the history of event continues; "
                + "restore the file from a backup",
            assertThrows(StoreDamagedException.class, history::take).getMessage());
      }
    }
  }
}
