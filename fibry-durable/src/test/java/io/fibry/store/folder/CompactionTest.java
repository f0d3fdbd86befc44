package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dead records leave the disk, and living records are found while they move. */
class CompactionTest {
  private static final int SEGMENT = 1 << 14;
  private static final int WRITERS = 4;
  private static final Store.ActorId STATE = new Store.ActorId("state", "s");

  private final CrashDisk memory = CrashDisk.empty();

  private static FolderStore open(StorageDirectory disk) {
    return FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT));
  }

  private static long bytes(StorageDirectory disk) throws IOException {
    long bytes = 0;
    for (var name : disk.names()) bytes += size(disk, name);
    return bytes;
  }

  private static long size(StorageDirectory disk, String name) throws IOException {
    try {
      return disk.size(name);
    } catch (NoSuchFileException | FileNotFoundException gone) { // since its name was read
      return 0;
    }
  }

  private static Store.Turn turn(Store.ActorId actor, long life, long number, boolean whole, List<String> done,
      List<Store.PendingMessage> sends) {
    return new Store.Turn(actor, life, number, Instant.EPOCH, whole, body(number), done, sends);
  }

  private static byte[] body(long number) {
    return ByteBuffer.allocate(64).putLong(number).array();
  }

  @Test
  void liveRecordsAreFoundWhileTheyMove() throws Exception {
    write(() -> memory, 1_000);
  }

  @Test
  @Soak(counterpart = "CompactionTest.liveRecordsAreFoundWhileTheyMove")
  void liveRecordsAreFoundWhileTheyMoveOnARealDisk(@TempDir Path folder) throws Exception {
    write(() -> StorageDirectory.open(folder), 5_000);
  }

  private interface Opening {
    StorageDirectory open() throws IOException;
  }

  private static void write(Opening files, int turns) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("compaction: -Dfibry.seed=" + seed);
    var last = new long[WRITERS];
    var over = new AtomicBoolean();
    var disk = files.open();
    try (var store = open(disk); var threads = Executors.newCachedThreadPool()) {
      var tasks = new ArrayList<Future<?>>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        tasks.add(threads.submit(() -> last[writer] = write(store, writer, turns, new Random(seed + writer))));
      }
      var reader = threads.submit(() -> read(store, over));
      try {
        tasks.forEach(Patience::value);
      } finally {
        over.set(true);
      }
      assertTrue(Patience.value(reader) > 0);
      replaceUntilSmall(store, disk, 100);
    }

    try (var store = open(files.open())) {
      for (int i = 0; i < WRITERS; i++) {
        assertEquals(last[i], store.load(writer(i)).lastTurn(), "seed " + seed);
        check(store.load(writer(i)));
        assertEquals(List.of("m" + last[i]), store.load(box(i)).pendingIds(), "seed " + seed);
      }
    }
  }

  private static Store.ActorId writer(int number) {
    return new Store.ActorId("writer", "w" + number);
  }

  private static Store.ActorId box(int number) {
    return new Store.ActorId("box", "b" + number);
  }

  /** Each turn sends a message to a box, whose turn then does the one before. */
  private static long write(Store store, int writer, int turns, Random random) throws Exception {
    long life = store.load(writer(writer)).life();
    long ofBox = store.load(box(writer)).life();
    for (long n = 1; n <= turns; n++) {
      var message = new Store.PendingMessage(box(writer), "m" + n, Instant.EPOCH, body(n));
      var done = n == 1 ? List.<String>of() : List.of("m" + (n - 1));
      var stored = store.append(turn(writer(writer), life, n, random.nextInt(20) == 0, List.of(), List.of(message)));
      store.append(turn(box(writer), ofBox, n, true, done, List.of())).toCompletableFuture().get();
      stored.toCompletableFuture().get();
      if (n % 50 != 0) continue;
      var waiting = store.pending(box(writer), Instant.MAX, 9);
      assertEquals(List.of("m" + n), waiting.stream().map(Store.PendingMessage::id).toList());
      assertArrayEquals(body(n), waiting.getFirst().body());
    }
    return turns;
  }

  /** An actor that does nothing meanwhile, whose turns move all the same. */
  private static int read(Store store, AtomicBoolean over) throws Exception {
    var quiet = new Store.ActorId("quiet", "q");
    long life = store.load(quiet).life();
    for (long n = 1; n <= 20; n++)
      store.append(turn(quiet, life, n, false, List.of(), List.of())).toCompletableFuture().get();
    int reads = 0;
    do {
      check(store.load(quiet));
      reads++;
    } while (!over.get());
    return reads;
  }

  private static void check(Store.LoadedActor loaded) {
    long number = loaded.lastTurn() - loaded.bodies().size();
    for (var body : loaded.bodies()) assertArrayEquals(body(++number), body);
  }

  @Test
  void aStoreThatReplacesItsStatesDoesNotGrow() throws Exception {
    long last;
    try (var store = open(memory)) {
      long life = store.load(STATE).life();
      append(store, life, 0, 20_000);
      last = replaceUntilSmall(store, memory, 20);
    }

    try (var store = open(memory)) {
      assertEquals(last, store.load(STATE).lastTurn());
    }
  }

  /** The compaction may have fallen behind. It catches up while more is written, which wakes it. */
  private static long replaceUntilSmall(Store store, StorageDirectory disk, int files) throws Exception {
    var loaded = store.load(STATE);
    long last = loaded.lastTurn();
    while (bytes(disk) >= files * SEGMENT) last = append(store, loaded.life(), last, 100);
    return last;
  }

  private static long append(Store store, long life, long last, int turns) {
    CompletionStage<Void> stored = null;
    for (long n = last + 1; n <= last + turns; n++)
      stored = store.append(turn(STATE, life, n, true, List.of(), List.of()));
    Patience.value(stored.toCompletableFuture());
    return last + turns;
  }
}
