package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
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

/** Stored turns are read once and in order, even while files are rewritten. */
class HistoryTest {
  private static final int SEGMENT = 1 << 13;
  private static final int ACTORS = 4;
  private static final int TURNS = 6_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final CrashDisk disk = CrashDisk.empty();

  private FolderStore open() {
    return FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT));
  }

  private static Store.Turn turn(String kind, int actor, long life, long number, boolean whole, int bytes) {
    return new Store.Turn(new Store.ActorId(kind, "a" + actor), life, number, Instant.EPOCH, whole, new byte[bytes],
        List.of(), List.of());
  }

  /**
   * Writes events of some actors, beside a state that is replaced so that files are rewritten. It
   * continues until that has happened, since the rewriting thread may be late.
   */
  private Void write(Store store, Random random) throws Exception {
    long life = store.load(new Store.ActorId("state", "a0")).life();
    var lives = new long[ACTORS];
    var last = new long[ACTORS];
    for (int i = 0; i < ACTORS; i++) lives[i] = store.load(new Store.ActorId("event", "a" + i)).life();
    for (long n = 1; n <= TURNS; n++) {
      var stored = store.append(turn("state", 0, life, n, true, random.nextInt(60)));
      int actor = random.nextInt(ACTORS);
      if (random.nextInt(3) == 0)
        stored = store.append(turn("event", actor, lives[actor], ++last[actor], false, random.nextInt(40)));
      if (random.nextInt(40) == 0) store.snapshot(turn("event", actor, lives[actor], last[actor], true, 10));
      if (random.nextInt(5) == 0) stored.toCompletableFuture().get();
    }
    long[] n = {TURNS};
    Patience.eventually("nothing was rewritten", () -> {
      store.append(turn("state", 0, life, ++n[0], true, 30)).toCompletableFuture().join();
      return disk.names().size() < 60;
    });
    store.append(turn("event", 0, lives[0], last[0] + 1, false, 1_000)).toCompletableFuture().get();
    return null;
  }

  /** Reads up to the large turn. */
  private static List<Store.StoredTurn> read(Store store, String after, Random random) throws InterruptedException {
    var all = new ArrayList<Store.StoredTurn>();
    try (var history = store.history("event", after)) {
      while (all.isEmpty() || all.getLast().body().length < 1_000) {
        all.addAll(history.take());
        for (int i = random.nextInt(200); i > 0; i--) Thread.onSpinWait();
      }
    }
    return all;
  }

  private static List<String> names(List<Store.StoredTurn> turns) {
    return turns.stream().map(turn -> turn.key() + " " + turn.number()).toList();
  }

  @Test
  void eachTurnComesOnceWhileFilesMove() throws Exception {
    System.out.println("history: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    List<Store.StoredTurn> all;
    try (var store = open(); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var slow = threads.submit(() -> read(store, "", new Random(seed)));
      var writer = threads.submit(() -> write(store, new Random(seed + 1)));
      all = slow.get();
      writer.get();
      checkRests(store, all, random);
    }
    var next = new long[ACTORS];
    for (var turn : all)
      assertEquals(++next[Integer.parseInt(turn.key().substring(1))], turn.number(), () -> "seed " + seed);
    try (var store = open()) {
      checkRests(store, all, random);
    }
  }

  private void checkRests(Store store, List<Store.StoredTurn> all, Random random) throws InterruptedException {
    assertEquals(names(all), names(read(store, "", random)), () -> "seed " + seed);
    for (int i = 0; i < 20; i++) {
      int at = random.nextInt(all.size() - 1);
      assertEquals(names(all.subList(at + 1, all.size())), names(read(store, all.get(at).offset(), random)),
          () -> "seed " + seed);
    }
  }

  @Test
  void oldEventsLeaveTheDisk() throws Exception {
    long[] last = {0};
    try (var store = open()) {
      store.setRetention("event", Duration.ofDays(1)); // all are of 1970
      long life = store.load(new Store.ActorId("event", "a0")).life();
      while (last[0] < TURNS) writeEvent(store, life, ++last[0]);
      Patience.eventually("the files grow", () -> { // the thread that rewrites them may be late
        writeEvent(store, life, ++last[0]);
        return store.health().bytes() < 12 * SEGMENT;
      });
    }

    try (var store = open()) {
      assertEquals(last[0], store.load(new Store.ActorId("event", "a0")).lastTurn());
      try (var history = store.history("event", "")) {
        assertTrue(history.take().getFirst().number() > TURNS / 2);
      }
    }
  }

  private static void writeEvent(Store store, long life, long n) {
    var stored = store.append(turn("event", 0, life, n, false, 40));
    if (n % 100 == 0) store.snapshot(turn("event", 0, life, n, true, 40));
    if (n % 10 == 0) stored.toCompletableFuture().join();
  }

  @Test
  void aTurnThatFillsAFileIsRead() throws Exception {
    try (var store = FolderStore.open(disk, options -> options.withSegmentBytes(2 << 20))) {
      long life = store.load(new Store.ActorId("event", "a0")).life();
      for (long n = 1; n <= 3; n++)
        store.append(turn("event", 0, life, n, false, (int) n << 19)).toCompletableFuture().get();

      try (var history = store.history("event", "")) {
        for (long n = 1; n <= 3; n++) {
          var found = history.take();
          assertEquals(List.of("a0 " + n), names(found));
          assertEquals(n << 19, found.getFirst().body().length);
        }
      }
    }
  }

  @Test
  void historyReadsOnlySyncedEvents() throws Exception {
    try (var store = FolderStore.open(disk, options -> options.withSyncInterval(Duration.ofDays(1)));
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      long life = store.load(new Store.ActorId("event", "a0")).life();
      store.append(turn("event", 0, life, 1, false, 1)).toCompletableFuture().get();
      var history = store.history("event", "");
      var thread = new CompletableFuture<Thread>();
      var found = threads.submit(() -> {
        thread.complete(Thread.currentThread());
        return history.take();
      });
      var reader = Patience.value(thread);
      Patience.eventually(() -> Patience.isParked(reader) || found.isDone());

      assertFalse(found.isDone());
      history.close();
    }
  }

  @Test
  void damageIsFoundOut() throws Exception {
    try (var store = open()) {
      long life = store.load(new Store.ActorId("event", "a0")).life();
      store.append(turn("event", 0, life, 1, false, 100)).toCompletableFuture().get();
      disk.flipBit("00000001.log", 8L * (Segment.HEADER + Frame.RECORDS_OFFSET + 40));

      try (var history = store.history("event", "")) {
        assertEquals(
            "the store in a simulated disk: 00000001.log is damaged at 40, where the history of event continues; "
                + "put back a copy of the file",
            assertThrows(StoreDamagedException.class, history::take).getMessage());
      }
    }
  }
}
