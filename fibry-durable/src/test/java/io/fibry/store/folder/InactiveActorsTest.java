package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a store lists all its actors, including inactive and ended actors. */
class InactiveActorsTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final int THREADS = 6;
  private static final int ACTORS = 10;
  private static final int POWER_CUTS = 30;
  private static final int LIVES = 40; // between two power cuts

  @TempDir
  private Path folder;
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());

  private StoreBackend open() {
    return open(CrashDisk.empty());
  }

  private static StoreBackend open(StorageDirectory disk) {
    return StoreBackend.of(FolderStore.open(disk, options -> options.withSegmentBytes(1 << 14)));
  }

  private static StoreBackend.Turn turn(Store.ActorId id, long life, long number, boolean isFullState,
      List<String> handledIds,
      List<StoreBackend.PendingMessage> messages) {
    return new StoreBackend.Turn(id, life, number, Instant.EPOCH, isFullState, new byte[40], handledIds, messages);
  }

  private static StoreBackend.Turn turn(long life, long number) {
    return turn(ADA, life, number, false, List.of(), List.of());
  }

  @Test
  void turnAfterEndOfItsLifeIsRefused() {
    try (var store = open()) {
      long life = store.load(ADA).life();
      var firstTurn = store.append(turn(life, 1));
      store.endLife(ADA, life);

      var staleAppend = store.append(turn(life, 2)).toCompletableFuture();

      firstTurn.toCompletableFuture().join();
      assertInstanceOf(StaleLifeException.class, assertThrows(CompletionException.class, staleAppend::join).getCause());
      assertEquals(1, store.load(ADA).lastTurn());
    }
  }

  @Test
  void lateEndOfFormerLifeDoesNotEndCurrentLife() {
    try (var store = open()) {
      long firstLife = store.load(ADA).life();
      long secondLife = store.load(ADA).life();
      store.endLife(ADA, firstLife);

      store.append(turn(secondLife, 1)).toCompletableFuture().join();

      store.endLife(ADA, secondLife);
      assertTrue(store.load(ADA).life() > secondLife);
    }
  }

  @Test
  void storeListsActiveInactiveAndMessageOnlyActorsOnce() {
    var ids =
        Stream.of("state", "events", "there", "box", "never").map(key -> new Store.ActorId("account", key)).toList();
    var disk = CrashDisk.empty();
    try (var store = open(disk)) {
      for (var id : ids.subList(0, 3)) {
        long life = store.load(id).life();
        for (int n = 1; n <= 3; n++) store.append(turn(id, life, n, id == ids.getFirst(), List.of(), List.of()));
        if (id != ids.get(2)) store.endLife(id, life);
      }
      store.enqueue(new StoreBackend.PendingMessage(ids.get(3), "m", Instant.EPOCH, new byte[0]), 1)
          .toCompletableFuture()
          .join();
      store.load(ids.get(4));

      assertEquals(Set.copyOf(ids.subList(0, 4)), actors(store));
    }
    try (var store = open(disk)) {
      assertEquals(Set.copyOf(ids.subList(0, 4)), actors(store));
    }
  }

  private static Set<Store.ActorId> actors(StoreBackend store) {
    var listed = new ArrayList<Store.ActorId>();
    store.forEachActor(listed::add);
    var ids = Set.copyOf(listed);
    assertEquals(ids.size(), listed.size(), () -> "some actors were listed twice: " + listed);
    return ids;
  }

  @Test
  void listingActorsFailsIfActorIsUnreadable() throws IOException {
    var disk = CrashDisk.empty();
    try (var store = open(disk)) {
      long life = store.load(ADA).life();
      store.append(turn(life, 1)).toCompletableFuture().join();
      store.endLife(ADA, life);
      int kindOffset = Segment.HEADER + Frame.RECORDS_OFFSET + Integer.BYTES + LogRecord.ACTOR_OFFSET + Short.BYTES;
      disk.flipBit("00000001.log", 8L * kindOffset); // the kind "account" in the record

      var failure = assertThrows(StoreDamagedException.class, () -> store.forEachActor(id -> {}));

      assertEquals(store + ": 00000001.log is damaged at 76, where a turn of an actor, or a message for it, was. "
          + "Other actors are not affected; restore the file from a backup", failure.getMessage());
    }
  }

  /**
   * One thread makes all choices from a seed. Two runs of a seed may differ in the bytes on the
   * disk at a power cut, because the journal and the compaction have their own threads.
   */
  @Test
  void storeListsAllActorsAfterPowerCuts() {
    System.out.println("inactive actors: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var actors = IntStream.range(0, ACTORS).mapToObj(ExpectedActor::new).toList();
    var disk = CrashDisk.empty();
    for (int cut = 0; cut < POWER_CUTS; cut++) {
      var store = open(disk);
      for (int life = 0; life < LIVES; life++)
        actors.get(random.nextInt(ACTORS)).runLife(store, random, actors.get(random.nextInt(ACTORS)));
      checkAll(store, actors);
      disk = disk.cutPower(random.nextLong());
      store.close();
      try (var reopened = open(disk)) {
        checkAll(reopened, actors);
      }
      for (var actor : actors) actor.lastLife = 0; // a reopened store may use old life numbers again
    }
  }

  private void checkAll(StoreBackend store, List<ExpectedActor> actors) {
    for (var actor : actors) actor.check(store);
    var listed = actors(store);
    for (var actor : actors) assertEquals(actor.isKnown(), listed.contains(actor.id),
        () -> actor.id + ", seed " + seed);
  }

  @Test
  void storeListsAllActorsWhileTheirLivesBeginAndEnd() throws Exception {
    var disk = CrashDisk.empty();
    runLives(() -> disk, 100);
  }

  @Test
  @Soak(counterpart = "InactiveActorsTest.storeListsAllActorsAfterPowerCuts")
  void storeOnRealDiskListsAllActorsWhileLivesBeginAndEnd() throws Exception {
    runLives(() -> StorageDirectory.open(folder), 2_000);
  }

  private interface Opening {
    StorageDirectory open() throws IOException;
  }

  /**
   * Runs many lives of all actors on several threads. Meanwhile the index changes the entry of each
   * actor from an object to a row of a table and back, and the compaction moves records to other
   * files.
   */
  private void runLives(Opening disk, int lives) throws Exception {
    System.out.println("inactive actors: -Dfibry.seed=" + seed);
    var actors = IntStream.range(0, ACTORS).mapToObj(ExpectedActor::new).toList();
    var stop = new AtomicBoolean();
    var livesRun = new AtomicInteger();
    try (var store = open(disk.open()); var threads = Executors.newCachedThreadPool()) {
      var tasks = new ArrayList<Future<?>>();
      var listing = threads.submit(() -> listUntilStopped(store, stop));
      for (int i = 0; i < THREADS; i++) {
        var random = new SplittableRandom(seed + i);
        tasks.add(threads.submit(() -> {
          for (int life = 0; life < lives; life++, livesRun.incrementAndGet())
            actors.get(random.nextInt(ACTORS)).runLife(store, random, actors.get(random.nextInt(ACTORS)));
          return null;
        }));
      }
      try {
        Patience.progress(livesRun::get, () -> tasks.stream().allMatch(Future::isDone));
        tasks.forEach(Patience::value);
      } finally {
        stop.set(true);
      }
      assertTrue(Patience.value(listing) > 0);
      checkAll(store, actors);
    }
    try (var store = open(disk.open())) {
      checkAll(store, actors);
    }
  }

  /**
   * Lists the actors repeatedly until the test ends. Each list must have all actors of the
   * previous list.
   */
  private static int listUntilStopped(StoreBackend store, AtomicBoolean stop) {
    int lists = 0;
    var previous = Set.<Store.ActorId>of();
    do {
      var listed = actors(store);
      assertTrue(listed.containsAll(previous), () -> "some actors are not listed any more: " + listed);
      previous = listed;
      lists++;
    } while (!stop.get());
    return lists;
  }

  /** An actor and its expected content. One thread at a time runs its lives; all may send to it. */
  private final class ExpectedActor {
    private final Store.ActorId id;
    private final ReentrantLock lifeLock = new ReentrantLock();
    private final Set<String> expectedPendingIds = ConcurrentHashMap.newKeySet();
    private long lastTurn;
    private long lastLife; // the life that began last; 0 before the first life
    private int sent; // guarded by this object's monitor

    ExpectedActor(int number) {
      id = new Store.ActorId("account", "a" + number);
    }

    void runLife(StoreBackend store, SplittableRandom random, ExpectedActor recipient) {
      if (random.nextInt(4) == 0) enqueueMessage(store);
      if (!lifeLock.tryLock()) return;
      try {
        var loaded = store.load(id);
        assertEquals(lastTurn, loaded.lastTurn(), "seed " + seed);
        assertTrue(loaded.life() != lastLife);
        if (lastLife > 0) assertInstanceOf(StaleLifeException.class, failure(store.append(
            turn(id, lastLife, lastTurn + 1, false, List.of(), List.of())).toCompletableFuture()));
        lastLife = loaded.life();
        var handledIds = loaded.pendingIds().stream().filter(pendingId -> random.nextBoolean()).toList();
        CompletableFuture<Void> stored = CompletableFuture.completedFuture(null);
        for (int turns = random.nextInt(4); turns > 0; turns--) {
          stored = store.append(nextTurn(random, handledIds, recipient)).toCompletableFuture();
          handledIds = List.of();
        }
        if (lastTurn > 0 && random.nextInt(8) == 0)
          store.snapshot(turn(id, lastLife, lastTurn, true, List.of(), List.of()));
        if (random.nextBoolean()) stored.join();
        if (random.nextInt(5) > 0) store.endLife(id, lastLife);
        stored.join();
      } finally {
        lifeLock.unlock();
      }
    }

    private StoreBackend.Turn nextTurn(SplittableRandom random, List<String> handledIds, ExpectedActor recipient) {
      var messages = random.nextInt(6) == 0 ? List.of(recipient.message()) : List.<StoreBackend.PendingMessage>of();
      messages.forEach(message -> recipient.expectedPendingIds.add(message.id()));
      expectedPendingIds.removeAll(handledIds);
      return turn(id, lastLife, ++lastTurn, random.nextInt(3) > 0, handledIds, messages);
    }

    private void enqueueMessage(StoreBackend store) {
      var message = message();
      expectedPendingIds.add(message.id());
      assertTrue(store.enqueue(message, Integer.MAX_VALUE).toCompletableFuture().join());
    }

    private synchronized StoreBackend.PendingMessage message() {
      return new StoreBackend.PendingMessage(id, "m" + ++sent, Instant.EPOCH, new byte[10]);
    }

    boolean isKnown() {
      return lastTurn > 0 || !expectedPendingIds.isEmpty();
    }

    void check(StoreBackend store) {
      var loaded = store.load(id);
      assertEquals(lastTurn, loaded.lastTurn(), "seed " + seed);
      assertEquals(expectedPendingIds, new HashSet<>(loaded.pendingIds()), "seed " + seed);
      store.endLife(id, loaded.life());
    }
  }

  private static Throwable failure(CompletableFuture<?> future) {
    return assertThrows(CompletionException.class, future::join).getCause();
  }
}
