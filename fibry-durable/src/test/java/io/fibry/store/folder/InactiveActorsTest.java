package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
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
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Actors that end are known all the same. */
class InactiveActorsTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final int THREADS = 6;
  private static final int ACTORS = 10;
  private static final int POWER_CUTS = 30;
  private static final int LIVES = 40; // between two of them

  @TempDir
  private Path folder;
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());

  private FolderStore open() {
    return open(CrashDisk.empty());
  }

  private static FolderStore open(StorageDirectory disk) {
    return FolderStore.open(disk, options -> options.withSegmentBytes(1 << 14));
  }

  private static Store.Turn turn(Store.ActorId id, long life, long number, boolean whole, List<String> done,
      List<Store.PendingMessage> sends) {
    return new Store.Turn(id, life, number, Instant.EPOCH, whole, new byte[40], done, sends);
  }

  private static Store.Turn turn(long life, long number) {
    return turn(ADA, life, number, false, List.of(), List.of());
  }

  @Test
  void turnAfterEndOfItsLifeIsRefused() {
    try (var store = open()) {
      long life = store.load(ADA).life();
      var before = store.append(turn(life, 1));
      store.endLife(ADA, life);

      var late = store.append(turn(life, 2)).toCompletableFuture();

      before.toCompletableFuture().join();
      assertInstanceOf(StaleLifeException.class, assertThrows(CompletionException.class, late::join).getCause());
      assertEquals(1, store.load(ADA).lastTurn());
    }
  }

  @Test
  void endOfLifeDoesNotEndNextLife() {
    try (var store = open()) {
      long first = store.load(ADA).life();
      long second = store.load(ADA).life();
      store.endLife(ADA, first);

      store.append(turn(second, 1)).toCompletableFuture().join();

      store.endLife(ADA, second);
      assertTrue(store.load(ADA).life() > second);
    }
  }

  @Test
  void everyActorIsListedOnce() {
    var ids =
        Stream.of("state", "events", "there", "box", "never").map(key -> new Store.ActorId("account", key)).toList();
    var disk = CrashDisk.empty();
    try (var store = open(disk)) {
      for (var id : ids.subList(0, 3)) {
        long life = store.load(id).life();
        for (int n = 1; n <= 3; n++) store.append(turn(id, life, n, id == ids.getFirst(), List.of(), List.of()));
        if (id != ids.get(2)) store.endLife(id, life);
      }
      store.enqueue(new Store.PendingMessage(ids.get(3), "m", Instant.EPOCH, new byte[0]), 1).toCompletableFuture()
          .join();
      store.load(ids.get(4));

      assertEquals(Set.copyOf(ids.subList(0, 4)), actors(store));
    }
    try (var store = open(disk)) {
      assertEquals(Set.copyOf(ids.subList(0, 4)), actors(store));
    }
  }

  private static Set<Store.ActorId> actors(Store store) {
    var all = new ArrayList<Store.ActorId>();
    store.forEachActor(all::add);
    var each = Set.copyOf(all);
    assertEquals(each.size(), all.size(), () -> "some were told twice: " + all);
    return each;
  }

  @Test
  void unreadableActorIsNotOmittedFromList() throws IOException {
    var disk = CrashDisk.empty();
    try (var store = open(disk)) {
      long life = store.load(ADA).life();
      store.append(turn(life, 1)).toCompletableFuture().join();
      store.endLife(ADA, life);
      int kind = Segment.HEADER + Frame.RECORDS_OFFSET + Integer.BYTES + LogRecord.ACTOR_OFFSET + Short.BYTES;
      disk.flipBit("00000001.log", 8L * kind); // of "account"

      var failure = assertThrows(StoreDamagedException.class, () -> store.forEachActor(id -> {}));

      assertEquals(store + ": 00000001.log is damaged at 76, where a turn of an actor, or a message for it, was. "
          + "Other actors are not concerned; put back a copy of the file", failure.getMessage());
    }
  }

  /** One thread chooses all by a seed, so that the store is the same each time at a power cut. */
  @Test
  void changingActorsAreKnownAfterPowerCuts() {
    System.out.println("rest: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var actors = IntStream.range(0, ACTORS).mapToObj(Known::new).toList();
    var disk = CrashDisk.empty();
    for (int cut = 0; cut < POWER_CUTS; cut++) {
      var store = open(disk);
      for (int life = 0; life < LIVES; life++)
        actors.get(random.nextInt(ACTORS)).live(store, random, actors.get(random.nextInt(ACTORS)));
      checkAll(store, actors);
      disk = disk.cutPower(random.nextLong());
      store.close();
      try (var after = open(disk)) {
        checkAll(after, actors);
      }
      for (var actor : actors) actor.life = 0; // a store counts lives from its opening
    }
  }

  private void checkAll(Store store, List<Known> actors) {
    for (var actor : actors) actor.check(store);
    var told = actors(store);
    for (var actor : actors) assertEquals(actor.isKnown(), told.contains(actor.id), () -> actor.id + ", seed " + seed);
  }

  @Test
  void changingActorsAreNotForgotten() throws Exception {
    var disk = CrashDisk.empty();
    comeAndGo(() -> disk, 100);
  }

  @Test
  @Soak(counterpart = "InactiveActorsTest.changingActorsAreKnownAfterPowerCuts")
  void changingActorsAreKnownOnRealDisk() throws Exception {
    comeAndGo(() -> StorageDirectory.open(folder), 2_000);
  }

  private interface Opening {
    StorageDirectory open() throws IOException;
  }

  /** An actor goes from an object to a table and back, while all use it, and files move. */
  private void comeAndGo(Opening disk, int lives) throws Exception {
    System.out.println("rest: -Dfibry.seed=" + seed);
    var actors = IntStream.range(0, ACTORS).mapToObj(Known::new).toList();
    var over = new AtomicBoolean();
    try (var store = open(disk.open()); var threads = Executors.newCachedThreadPool()) {
      var tasks = new ArrayList<Future<?>>();
      var listing = threads.submit(() -> list(store, over));
      for (int i = 0; i < THREADS; i++) {
        var random = new SplittableRandom(seed + i);
        tasks.add(threads.submit(() -> {
          for (int life = 0; life < lives; life++)
            actors.get(random.nextInt(ACTORS)).live(store, random, actors.get(random.nextInt(ACTORS)));
          return null;
        }));
      }
      try {
        tasks.forEach(Patience::value);
      } finally {
        over.set(true);
      }
      assertTrue(Patience.value(listing) > 0);
      checkAll(store, actors);
    }
    try (var store = open(disk.open())) {
      checkAll(store, actors);
    }
  }

  /** An actor that was there once is told ever after. */
  private static int list(Store store, AtomicBoolean over) {
    int times = 0;
    var before = Set.<Store.ActorId>of();
    do {
      var now = actors(store);
      assertTrue(now.containsAll(before), () -> "not all are told: " + now);
      before = now;
      times++;
    } while (!over.get());
    return times;
  }

  /** The expected content. One thread at a time lives its lives; any sends to it. */
  private final class Known {
    private final Store.ActorId id;
    private final ReentrantLock alive = new ReentrantLock();
    private final Set<String> waiting = ConcurrentHashMap.newKeySet();
    private long last;
    private long life; // the one before
    private int sent; // under this object's monitor

    Known(int number) {
      id = new Store.ActorId("account", "a" + number);
    }

    void live(Store store, SplittableRandom random, Known other) {
      if (random.nextInt(4) == 0) accept(store);
      if (!alive.tryLock()) return;
      try {
        var loaded = store.load(id);
        assertEquals(last, loaded.lastTurn(), "seed " + seed);
        assertTrue(loaded.life() != life);
        if (life > 0) assertInstanceOf(StaleLifeException.class, failure(store.append(turn(id, life, last + 1,
            false, List.of(), List.of())).toCompletableFuture()));
        life = loaded.life();
        var done = loaded.pendingIds().stream().filter(one -> random.nextBoolean()).toList();
        CompletableFuture<Void> stored = CompletableFuture.completedFuture(null);
        for (int turns = random.nextInt(4); turns > 0; turns--) {
          stored = store.append(next(random, done, other)).toCompletableFuture();
          done = List.of();
        }
        if (last > 0 && random.nextInt(8) == 0) store.snapshot(turn(id, life, last, true, List.of(), List.of()));
        if (random.nextBoolean()) stored.join();
        if (random.nextInt(5) > 0) store.endLife(id, life);
        stored.join();
      } finally {
        alive.unlock();
      }
    }

    private Store.Turn next(SplittableRandom random, List<String> done, Known other) {
      var sends = random.nextInt(6) == 0 ? List.of(other.message()) : List.<Store.PendingMessage>of();
      sends.forEach(one -> other.waiting.add(one.id()));
      waiting.removeAll(done);
      return turn(id, life, ++last, random.nextInt(3) > 0, done, sends);
    }

    private void accept(Store store) {
      var message = message();
      waiting.add(message.id());
      assertTrue(store.enqueue(message, Integer.MAX_VALUE).toCompletableFuture().join());
    }

    private synchronized Store.PendingMessage message() {
      return new Store.PendingMessage(id, "m" + ++sent, Instant.EPOCH, new byte[10]);
    }

    boolean isKnown() {
      return last > 0 || !waiting.isEmpty();
    }

    void check(Store store) {
      var loaded = store.load(id);
      assertEquals(last, loaded.lastTurn(), "seed " + seed);
      assertEquals(waiting, new HashSet<>(loaded.pendingIds()), "seed " + seed);
      store.endLife(id, loaded.life());
    }
  }

  private static Throwable failure(CompletableFuture<?> future) {
    return assertThrows(CompletionException.class, future::join).getCause();
  }
}
