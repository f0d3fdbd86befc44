package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
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
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that compaction removes replaced records from the disk, and that live records can be read
 * while they move.
 */
class CompactionTest {
  private static final int SEGMENT = 1 << 14;
  private static final int WRITERS = 4;
  private static final Store.ActorId STATE = new Store.ActorId("state", "s");

  private final CrashDisk memory = CrashDisk.empty();

  private static StoreBackend open(StorageDirectory disk) {
    return StoreBackend.of(FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT)));
  }

  private static long bytes(StorageDirectory disk) throws IOException {
    long bytes = 0;
    for (var name : disk.names()) bytes += size(disk, name);
    return bytes;
  }

  private static long size(StorageDirectory disk, String name) throws IOException {
    try {
      return disk.size(name);
    } catch (NoSuchFileException | FileNotFoundException deleted) { // after its name was listed
      return 0;
    }
  }

  private static StoreBackend.Turn turn(Store.ActorId actor, long life, long number, boolean isFullState,
      List<String> handled,
      List<StoreBackend.PendingMessage> sends) {
    return new StoreBackend.Turn(actor, life, number, Instant.EPOCH, isFullState, body(number), handled, sends);
  }

  private static byte[] body(long number) {
    return ByteBuffer.allocate(64).putLong(number).array();
  }

  @Test
  void liveRecordsAreReadableWhileCompactionMovesThem() throws Exception {
    writeReadAndReopen(() -> memory, 1_000);
  }

  @Test
  @Soak(counterpart = "CompactionTest.liveRecordsAreReadableWhileCompactionMovesThem")
  void liveRecordsAreReadableWhileCompactionMovesThemOnRealDisk(@TempDir Path folder) throws Exception {
    writeReadAndReopen(() -> StorageDirectory.open(folder), 5_000);
  }

  private interface Opening {
    StorageDirectory open() throws IOException;
  }

  private static void writeReadAndReopen(Opening opening, int turns) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("compaction: -Dfibry.seed=" + seed);
    var lastNumbers = new AtomicLongArray(WRITERS);
    var stop = new AtomicBoolean();
    var disk = opening.open();
    try (var store = open(disk); var threads = Executors.newCachedThreadPool()) {
      var tasks = new ArrayList<Future<?>>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        tasks.add(threads.submit(() -> write(store, writer, turns, new Random(seed + writer), lastNumbers)));
      }
      var reader = threads.submit(() -> read(store, stop));
      try {
        Patience.progress(() -> sum(lastNumbers), () -> tasks.stream().allMatch(Future::isDone));
        tasks.forEach(Patience::value);
      } finally {
        stop.set(true);
      }
      assertTrue(Patience.value(reader) > 0);
      replaceUntilSmall(store, disk, 100);
    }

    try (var store = open(opening.open())) {
      for (int i = 0; i < WRITERS; i++) {
        assertEquals(lastNumbers.get(i), store.load(writer(i)).lastTurn(), "seed " + seed);
        assertBodiesMatchNumbers(store.load(writer(i)));
        assertEquals(List.of("m" + lastNumbers.get(i)), store.load(box(i)).pendingIds(), "seed " + seed);
      }
    }
  }

  private static long sum(AtomicLongArray numbers) {
    return IntStream.range(0, WRITERS).mapToLong(numbers::get).sum();
  }

  private static Store.ActorId writer(int number) {
    return new Store.ActorId("writer", "w" + number);
  }

  private static Store.ActorId box(int number) {
    return new Store.ActorId("box", "b" + number);
  }

  /**
   * Turn n of the writer sends message n to its box, and turn n of the box handles message n - 1.
   */
  private static Void write(StoreBackend store, int writer, int turns, Random random, AtomicLongArray lastNumbers)
      throws Exception {
    long life = store.load(writer(writer)).life();
    long boxLife = store.load(box(writer)).life();
    for (long n = 1; n <= turns; n++) {
      var message = new StoreBackend.PendingMessage(box(writer), "m" + n, Instant.EPOCH, body(n));
      var handled = n == 1 ? List.<String>of() : List.of("m" + (n - 1));
      var stored = store.append(turn(writer(writer), life, n, random.nextInt(20) == 0, List.of(), List.of(message)));
      store.append(turn(box(writer), boxLife, n, true, handled, List.of())).toCompletableFuture().get();
      stored.toCompletableFuture().get();
      lastNumbers.set(writer, n);
      if (n % 50 != 0) continue;
      var pending = store.pending(box(writer), Instant.MAX, 9);
      assertEquals(List.of("m" + n), pending.stream().map(StoreBackend.PendingMessage::id).toList());
      assertArrayEquals(body(n), pending.getFirst().body());
    }
    return null;
  }

  /**
   * Reads an idle actor until the test stops it. Meanwhile the compaction moves the turns of this
   * actor.
   */
  private static int read(StoreBackend store, AtomicBoolean stop) throws Exception {
    var idleActor = new Store.ActorId("quiet", "q");
    long life = store.load(idleActor).life();
    for (long n = 1; n <= 20; n++)
      store.append(turn(idleActor, life, n, false, List.of(), List.of())).toCompletableFuture().get();
    int reads = 0;
    do {
      assertBodiesMatchNumbers(store.load(idleActor));
      reads++;
    } while (!stop.get());
    return reads;
  }

  private static void assertBodiesMatchNumbers(StoreBackend.LoadedActor loaded) {
    long number = loaded.lastTurn() - loaded.bodies().size();
    for (var body : loaded.bodies()) assertArrayEquals(body(++number), body);
  }

  @Test
  void storeWithReplacedStatesDoesNotGrow() throws Exception {
    long lastNumber;
    try (var store = open(memory)) {
      long life = store.load(STATE).life();
      append(store, life, 0, 20_000);
      lastNumber = replaceUntilSmall(store, memory, 20);
    }

    try (var store = open(memory)) {
      assertEquals(lastNumber, store.load(STATE).lastTurn());
    }
  }

  /**
   * Writes turns until the disk has fewer bytes than {@code maxSegments} full segments. Each write
   * wakes the compaction, so a compaction that has fallen behind catches up.
   */
  private static long replaceUntilSmall(StoreBackend store, StorageDirectory disk, int maxSegments) throws Exception {
    var loaded = store.load(STATE);
    long lastNumber = loaded.lastTurn();
    while (bytes(disk) >= maxSegments * SEGMENT) lastNumber = append(store, loaded.life(), lastNumber, 100);
    return lastNumber;
  }

  private static long append(StoreBackend store, long life, long lastNumber, int turns) {
    CompletionStage<Void> stored = null;
    for (long n = lastNumber + 1; n <= lastNumber + turns; n++)
      stored = store.append(turn(STATE, life, n, true, List.of(), List.of()));
    Patience.value(stored.toCompletableFuture());
    return lastNumber + turns;
  }
}
