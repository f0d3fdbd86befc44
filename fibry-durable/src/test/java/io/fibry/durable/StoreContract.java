package io.fibry.durable;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.GRACE;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.refusal;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.spi.StoreBackend;
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
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a store that several processes may have open at the same time. */
abstract class StoreContract {
  private static final Store.ActorId ODD =
      new Store.ActorId("account", "Grace's \0 2nd \\0 \\\\, \u00e4\u4e2d\ud83d\ude00");

  private final TestStores.Maker maker;
  private final List<StoreBackend> opened = new ArrayList<>();
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

  /** Opens one more store on the same data. */
  private StoreBackend open() {
    opened.add(stores.open());
    return opened.getLast();
  }

  private static StoreBackend.PendingMessage message(Store.ActorId to, String id, int body) {
    return new StoreBackend.PendingMessage(to, id, Instant.EPOCH, new byte[] {(byte) body});
  }

  @Test
  void reopenedStoreReturnsAppendedTurns() {
    byte[] largeBody = new byte[500_000];
    new Random(1).nextBytes(largeBody);
    var firstStore = open();
    long adaLife = firstStore.load(ADA).life();
    long oddLife = firstStore.load(ODD).life();
    append(firstStore, turn(ADA, adaLife, 1));
    append(firstStore, turn(ODD, oddLife, 1, true));
    append(firstStore, turn(ADA, adaLife, 2, false, largeBody));
    append(firstStore, turn(ODD, oddLife, 2, true, (byte) 7));
    firstStore.close();

    var reopened = open();

    assertEquals(2, reopened.load(ADA).lastTurn());
    assertArrayEquals(largeBody, reopened.load(ADA).bodies().get(1));
    assertEquals(1, reopened.load(ODD).bodies().size());
    assertArrayEquals(new byte[] {7}, reopened.load(ODD).bodies().getFirst());
    assertEquals(0, reopened.load(GRACE).lastTurn());
  }

  @Test
  void turnOutOfSequenceIsRefused() {
    var store = open();
    long life = store.load(ADA).life();

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 2))));
    append(store, turn(ADA, life, 1));
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 1))));
    var secondAppend = store.append(turn(ADA, life, 2)); // perhaps in one commit with the refused turns
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 4))));
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life + 1, 3))));

    Patience.value(secondAppend.toCompletableFuture());
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void appendIsRefusedAfterOtherStoreLoadedActor() {
    var firstStore = open();
    var secondStore = open();
    long firstLife = firstStore.load(ADA).life();
    append(firstStore, turn(ADA, firstLife, 1));
    long graceLife = firstStore.load(GRACE).life();

    var loaded = secondStore.load(ADA);
    var staleAppend = firstStore.append(turn(ADA, firstLife, 2));

    assertEquals("turn 2 of account 'ada' comes after another life has begun, or after a turn that was not stored",
        assertInstanceOf(StaleLifeException.class, refusal(staleAppend)).getMessage());
    append(firstStore, turn(GRACE, graceLife, 1)); // other actors are not affected
    assertEquals(1, loaded.lastTurn());
    append(secondStore, turn(ADA, loaded.life(), 2));
    assertEquals(2, firstStore.load(ADA).lastTurn());
  }

  @Test
  void competingStoresNeverForkHistoryOfActor() throws Exception {
    TestTurns.compete(this::open);
  }

  @Test
  void messageWithRepeatedIdReplacesPendingMessage() {
    var store = open();
    for (var id : List.of("a", "b\0", "c\\0")) store.enqueue(message(ODD, id, 1), 9).toCompletableFuture().join();
    store.enqueue(message(ODD, "a", 2), 9).toCompletableFuture().join();

    var pending = store.pending(ODD, Instant.MAX, 9);

    assertEquals(List.of("b\0", "c\\0", "a"), pending.stream().map(StoreBackend.PendingMessage::id).toList());
    assertEquals(2, pending.getLast().body()[0]);
    assertEquals(Optional.of(Instant.EPOCH), store.dueTime(ODD, "b\0"));
    assertEquals(Optional.empty(), store.dueTime(ODD, "b"));
    assertEquals(List.of("b\0", "c\\0", "a"), store.load(ODD).pendingIds());
  }

  @Test
  void turnsOfOneCommitReplaceAndRemoveEarlierMessages() {
    var store = open();
    long life = store.load(ADA).life();
    var turns = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 200; i++) {
      boolean sends = i % 2 == 1;
      turns.add(store.append(new StoreBackend.Turn(ADA, life, i, Instant.now(), false, new byte[0],
          sends ? List.of("old" + i) : List.of("a"), sends ? List.of(message(ADA, "a", i), message(ADA, "b", i))
              : List.of()))
          .toCompletableFuture());
    }
    turns.forEach(Patience::value);

    assertEquals(List.of("b"), store.load(ADA).pendingIds());
    assertEquals((byte) 199, store.pending(ADA, Instant.MAX, 1).getFirst().body()[0]);
  }

  @Test
  void pendingMessageLimitHoldsForConcurrentEnqueues() {
    var store = open();
    var enqueues = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < 100; i++) enqueues.add(store.enqueue(message(ADA, "m" + i, i), 10).toCompletableFuture());

    assertEquals(10, enqueues.stream().filter(CompletableFuture::join).count());
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
  void historyIsReadPageByPage() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    var appends = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 700; i++) appends.add(store.append(turn(ADA, life, i)).toCompletableFuture());
    appends.forEach(Patience::value);
    var numbers = new ArrayList<Long>();

    try (var history = store.history("account", "")) {
      while (numbers.size() < 700) history.take().forEach(turn -> numbers.add(turn.number()));
    }

    assertEquals(LongStream.rangeClosed(1, 700).boxed().toList(), numbers);
  }

  @Test
  void historyReturnsTurnsStoredByAnotherStore() throws Exception {
    var writer = open();
    try (var history = open().history("account", "")) {
      CompletableFuture<List<StoreBackend.StoredTurn>> turns = Patience.callOnFiber(history::take);
      append(writer, turn(ADA, writer.load(ADA).life(), 1));

      assertEquals(1, Patience.value(turns).getFirst().number());
    }
  }

  @Test
  void interruptFailsLoadButNotAppend() {
    var store = open();
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));

    Thread.currentThread().interrupt();
    var secondAppend = store.append(turn(ADA, life, 2)).toCompletableFuture();
    assertThrows(CancellationException.class, () -> store.load(ADA));
    assertThrows(CancellationException.class, () -> store.dueTime(ADA, "x"));
    assertTrue(Thread.interrupted());

    Patience.value(secondAppend);
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void pendingMessageLimitHoldsDuringLoadsOfActor() throws Exception {
    var store = open();
    for (int round = 0; round < 20; round++) {
      var actor = new Store.ActorId("account", "a" + round);
      var stop = new AtomicBoolean();
      var loader = new FutureTask<Void>(() -> {
        while (!stop.get()) store.load(actor);
      }, null);
      Thread.ofPlatform().start(loader); // a platform thread, because a busy loop would keep a carrier
      int acceptedCount = 0;
      try {
        for (int i = 0; i < 15; i++)
          if (Patience.value(store.enqueue(message(actor, "m" + i, 1), 10).toCompletableFuture())) acceptedCount++;
      } finally { // otherwise the thread would load forever
        stop.set(true);
      }
      Patience.value(loader);

      assertEquals(10, acceptedCount, actor.toString());
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
