package io.fibry.durable;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.GRACE;
import static io.fibry.durable.Turning.append;
import static io.fibry.durable.Turning.refusal;
import static io.fibry.durable.Turning.turn;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.support.Patience;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a store does that several processes may have open. */
abstract class StoreContract {
  private static final Store.ActorId ODD =
      new Store.ActorId("account", "Grace's \0 2nd \\0 \\\\, \u00e4\u4e2d\ud83d\ude00");

  private final TestStores.Maker maker;
  private final List<Store> opened = new ArrayList<>();
  private TestStores stores;

  @TempDir
  private Path folder;

  StoreContract(TestStores.Maker maker) {
    this.maker = maker;
  }

  @BeforeEach
  void make() throws Exception {
    stores = maker.make(folder, InstantSource.system());
  }

  @AfterEach
  void close() {
    opened.forEach(Store::close);
    stores.close();
  }

  /** One of several. */
  private Store open() {
    opened.add(stores.open());
    return opened.getLast();
  }

  private static Store.PendingMessage message(Store.ActorId to, String id, int body) {
    return new Store.PendingMessage(to, id, Instant.EPOCH, new byte[] {(byte) body});
  }

  @Test
  void storeReturnsAppendedTurns() {
    byte[] large = new byte[500_000];
    new Random(1).nextBytes(large);
    var before = open();
    long ada = before.load(ADA).life();
    long odd = before.load(ODD).life();
    append(before, turn(ADA, ada, 1));
    append(before, turn(ODD, odd, 1, true));
    append(before, turn(ADA, ada, 2, false, large));
    append(before, turn(ODD, odd, 2, true, (byte) 7));
    before.close();

    var after = open();

    assertEquals(2, after.load(ADA).lastTurn());
    assertArrayEquals(large, after.load(ADA).bodies().get(1));
    assertEquals(1, after.load(ODD).bodies().size());
    assertArrayEquals(new byte[] {7}, after.load(ODD).bodies().getFirst());
    assertEquals(0, after.load(GRACE).lastTurn());
  }

  @Test
  void turnOutOfSequenceIsRefused() {
    var store = open();
    long life = store.load(ADA).life();

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 2))));
    append(store, turn(ADA, life, 1));
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 1))));
    var second = store.append(turn(ADA, life, 2)); // perhaps in one commit with the others
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 4))));
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life + 1, 3))));

    Patience.value(second.toCompletableFuture());
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void storeThatLoadedLastWins() {
    var one = open();
    var other = open();
    long first = one.load(ADA).life();
    append(one, turn(ADA, first, 1));
    long grace = one.load(GRACE).life();

    var read = other.load(ADA);
    var late = one.append(turn(ADA, first, 2));

    assertEquals("turn 2 of account 'ada' comes after another life has begun, or after a turn that was not stored",
        assertInstanceOf(StaleLifeException.class, refusal(late)).getMessage());
    append(one, turn(GRACE, grace, 1)); // the others are not concerned
    assertEquals(1, read.lastTurn());
    append(other, turn(ADA, read.life(), 2));
    assertEquals(2, one.load(ADA).lastTurn());
  }

  @Test
  void storesCompetingForKeyNeverFork() throws Exception {
    Turning.fight(this::open);
  }

  @Test
  void messagesKeepOrderAndReplaceSameId() {
    var store = open();
    for (var id : List.of("a", "b\0", "c\\0")) store.enqueue(message(ODD, id, 1), 9).toCompletableFuture().join();
    store.enqueue(message(ODD, "a", 2), 9).toCompletableFuture().join();

    var waiting = store.pending(ODD, Instant.MAX, 9);

    assertEquals(List.of("b\0", "c\\0", "a"), waiting.stream().map(Store.PendingMessage::id).toList());
    assertEquals(2, waiting.getLast().body()[0]);
    assertEquals(Optional.of(Instant.EPOCH), store.dueTime(ODD, "b\0"));
    assertEquals(Optional.empty(), store.dueTime(ODD, "b"));
    assertEquals(List.of("b\0", "c\\0", "a"), store.load(ODD).pendingIds());
  }

  @Test
  void commitLeavesMessagesOfItsLastTurn() {
    var store = open();
    long life = store.load(ADA).life();
    var turns = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 200; i++) {
      boolean sends = i % 2 == 1;
      turns.add(store.append(new Store.Turn(ADA, life, i, Instant.now(), false, new byte[0],
          sends ? List.of("old" + i) : List.of("a"), sends ? List.of(message(ADA, "a", i), message(ADA, "b", i))
              : List.of()))
          .toCompletableFuture());
    }
    turns.forEach(Patience::value);

    assertEquals(List.of("b"), store.load(ADA).pendingIds());
    assertEquals((byte) 199, store.pending(ADA, Instant.MAX, 1).getFirst().body()[0]);
  }

  @Test
  void messageLimitHoldsUnderConcurrency() {
    var store = open();
    var all = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < 100; i++) all.add(store.enqueue(message(ADA, "m" + i, i), 10).toCompletableFuture());

    assertEquals(10, all.stream().filter(CompletableFuture::join).count());
    assertEquals(10, store.load(ADA).pendingIds().size());
  }

  @Test
  void everyPendingMessageIsListed() {
    var store = open();
    var all = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < 2_500; i++)
      all.add(store.enqueue(message(new Store.ActorId("account", "key" + i / 2), "m" + i, 1), 9).toCompletableFuture());
    store.enqueue(message(new Store.ActorId("other", "key"), "m", 1), 9).toCompletableFuture().join();
    all.forEach(Patience::value);
    var keys = new ArrayList<String>();

    store.forEachPending("account", (id, due) -> keys.add(id.key()));

    assertEquals(2_500, keys.size());
    assertEquals(1_250, keys.stream().distinct().count());
  }

  @Test
  void aHistoryIsReadPageByPage() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    var all = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 700; i++) all.add(store.append(turn(ADA, life, i)).toCompletableFuture());
    all.forEach(Patience::value);
    var numbers = new ArrayList<Long>();

    try (var history = store.history("account", "")) {
      while (numbers.size() < 700) history.take().forEach(turn -> numbers.add(turn.number()));
    }

    assertEquals(LongStream.rangeClosed(1, 700).boxed().toList(), numbers);
  }

  @Test
  void turnsOfAnotherStoreAreSeen() throws Exception {
    var one = open();
    try (var history = open().history("account", "")) {
      var found = new CompletableFuture<List<Store.StoredTurn>>();
      var reader = Thread.ofVirtual().start(() -> {
        try {
          found.complete(history.take());
        } catch (InterruptedException interrupt) {
          found.completeExceptionally(interrupt);
        }
      });
      append(one, turn(ADA, one.load(ADA).life(), 1));

      assertEquals(1, Patience.value(found).getFirst().number());
      Patience.joined(reader);
    }
  }

  @Test
  void interruptDoesNotHarmStore() {
    var store = open();
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));

    Thread.currentThread().interrupt();
    var second = store.append(turn(ADA, life, 2)).toCompletableFuture();
    assertThrows(CancellationException.class, () -> store.load(ADA));
    assertThrows(CancellationException.class, () -> store.dueTime(ADA, "x"));
    assertTrue(Thread.interrupted());

    Patience.value(second);
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void messageLimitHoldsWhileLivesBegin() throws Exception {
    var store = open();
    for (int round = 0; round < 20; round++) {
      var actor = new Store.ActorId("account", "a" + round);
      var over = new AtomicBoolean();
      var loading = Thread.ofPlatform().start(() -> { // it never waits
        while (!over.get()) store.load(actor);
      });
      int taken = 0;
      for (int i = 0; i < 15; i++)
        if (store.enqueue(message(actor, "m" + i, 1), 10).toCompletableFuture().get()) taken++;
      over.set(true);
      Patience.joined(loading);

      assertEquals(10, taken, actor.toString());
    }
  }

  @Test
  void closedStoreRefusesCalls() {
    var store = open();
    long life = store.load(ADA).life();
    var history = store.history("account", "");
    store.close();
    store.close();

    assertThrows(StoreClosedException.class, () -> store.load(ADA));
    assertThrows(StoreClosedException.class, () -> store.dueTime(ADA, "a"));
    assertThrows(StoreClosedException.class, history::take);
    assertInstanceOf(StoreClosedException.class, refusal(store.append(turn(ADA, life, 1))));
    assertInstanceOf(StoreClosedException.class, refusal(store.enqueue(message(ADA, "a", 1), 9)));
  }

  @Test
  void closeStoresSubmittedTurns() {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 500; i++) store.append(turn(ADA, life, i));
    store.close();

    assertEquals(500, open().load(ADA).lastTurn());
  }
}
