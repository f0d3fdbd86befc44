package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
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

/** What is dead leaves the disk, and what is alive is found while it moves. */
class CompactionTest {
  private static final int SEGMENT = 1 << 14;
  private static final int WRITERS = 4;
  private static final int TURNS = 3_000; // of a writer

  @TempDir
  private Path folder;

  private FolderStore open() {
    return FolderStore.open(folder, options -> options.withSegment(SEGMENT));
  }

  private long bytes() throws IOException {
    try (var files = Files.list(folder)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }

  private static Store.Turn turn(Store.Id actor, long life, long number, boolean whole, List<String> done,
      List<Store.Waiting> sends) {
    return new Store.Turn(actor, life, number, Instant.EPOCH, whole, body(number), done, sends);
  }

  private static byte[] body(long number) {
    return ByteBuffer.allocate(64).putLong(number).array();
  }

  @Test
  void whatIsAliveIsFoundWhileItMoves() throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("compaction: -Dfibry.seed=" + seed);
    var last = new long[WRITERS];
    var over = new AtomicBoolean();
    try (var store = open(); var threads = Executors.newCachedThreadPool()) {
      var tasks = new ArrayList<Future<?>>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        tasks.add(threads.submit(() -> last[writer] = write(store, writer, new Random(seed + writer))));
      }
      var reader = threads.submit(() -> read(store, over));
      try {
        for (var task : tasks) task.get();
      } finally {
        over.set(true);
      }
      assertTrue(reader.get() > 0);
    }

    assertTrue(bytes() < 100 * SEGMENT, () -> "it has grown to " + last[0]);
    try (var store = open()) {
      for (int i = 0; i < WRITERS; i++) {
        assertEquals(last[i], store.load(writer(i)).last(), "seed " + seed);
        check(store.load(writer(i)));
        assertEquals(List.of("m" + last[i]), store.load(box(i)).waiting(), "seed " + seed);
      }
    }
  }

  private static Store.Id writer(int number) {
    return new Store.Id("writer", "w" + number);
  }

  private static Store.Id box(int number) {
    return new Store.Id("box", "b" + number);
  }

  /** Each turn sends a message to a box, whose turn then does the one before. */
  private static long write(Store store, int writer, Random random) throws Exception {
    long life = store.load(writer(writer)).life();
    long ofBox = store.load(box(writer)).life();
    for (long n = 1; n <= TURNS; n++) {
      var message = new Store.Waiting(box(writer), "m" + n, Instant.EPOCH, body(n));
      var done = n == 1 ? List.<String>of() : List.of("m" + (n - 1));
      var stored = store.append(turn(writer(writer), life, n, random.nextInt(20) == 0, List.of(), List.of(message)));
      store.append(turn(box(writer), ofBox, n, true, done, List.of())).toCompletableFuture().get();
      stored.toCompletableFuture().get();
      if (n % 50 != 0) continue;
      var waiting = store.waiting(box(writer), Instant.MAX, 9);
      assertEquals(List.of("m" + n), waiting.stream().map(Store.Waiting::id).toList());
      assertArrayEquals(body(n), waiting.getFirst().body());
    }
    return TURNS;
  }

  /** An actor that does nothing meanwhile, whose turns move all the same. */
  private static int read(Store store, AtomicBoolean over) throws Exception {
    var quiet = new Store.Id("quiet", "q");
    long life = store.load(quiet).life();
    for (long n = 1; n <= 20; n++)
      store.append(turn(quiet, life, n, false, List.of(), List.of())).toCompletableFuture().get();
    int reads = 0;
    for (; !over.get(); reads++) check(store.load(quiet));
    return reads;
  }

  private static void check(Store.Loaded loaded) {
    long number = loaded.last() - loaded.bodies().size();
    for (var body : loaded.bodies()) assertArrayEquals(body(++number), body);
  }

  @Test
  void aStoreThatReplacesItsStatesDoesNotGrow() throws Exception {
    long last = 0;
    try (var store = open()) {
      long life = store.load(writer(0)).life();
      while (last < 20_000 || bytes() >= 20 * SEGMENT) { // it may fall behind, and then catches up
        CompletionStage<Void> stored = null;
        for (int i = 0; i < 100; i++)
          stored = store.append(turn(writer(0), life, ++last, true, List.of(), List.of()));
        stored.toCompletableFuture().get();
      }
    }

    try (var store = open()) {
      assertEquals(last, store.load(writer(0)).last());
    }
  }
}
