package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.turn;
import static io.fibry.support.Patience.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests loads of actors that wait at the same time. Such loads share a transaction. */
abstract class LoadsContract extends DatabaseFixture {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** Pauses each transaction that begins lives, until the gate opens, and counts it. */
  final class BeginGate implements Faults.Fault {
    final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger begins = new AtomicInteger();

    @Override
    public Object run(Connection connection, Intercepted.Call call) throws Throwable {
      faults.onNextStatement("fibry_actor", this);
      begins.incrementAndGet();
      gate.await();
      return call.pass();
    }
  }

  final BeginGate begins = new BeginGate();

  LoadsContract(Maker maker) {
    super(maker);
  }

  @AfterEach
  void openGate() {
    begins.gate.countDown();
  }

  /** A load on a fiber of its own. */
  record StartedLoad(Thread fiber, FutureTask<StoreBackend.LoadedActor> result) {}

  private static StartedLoad start(StoreBackend store, Store.ActorId actor) {
    var result = new FutureTask<>(() -> store.load(actor));
    return new StartedLoad(Thread.ofVirtual().start(result), result);
  }

  /** Opens a store all of whose threads that read are paused in the load of another actor. */
  StoreBackend openPaused(int readers) {
    var store = open(faults.source(), options -> options.withMaxReaders(readers).withStatementLimit(LIMIT));
    faults.onNextStatement("fibry_actor", begins);
    for (int i = 1; i <= readers; i++) {
      start(store, id("first" + i));
      int expected = i;
      eventually(() -> begins.begins.get() == expected);
    }
    return store;
  }

  /** Starts loads, and waits until each is in the queue. */
  static List<StartedLoad> startAll(StoreBackend store, List<Store.ActorId> actors) {
    var loads = new ArrayList<StartedLoad>();
    for (var actor : actors) loads.add(start(store, actor));
    // waits with a limit only for the result; the earlier wait for the writing thread has no limit
    for (var load : loads) eventually(() -> load.fiber.getState() == Thread.State.TIMED_WAITING);
    return loads;
  }

  static Store.ActorId id(String key) {
    return new Store.ActorId("account", key);
  }

  private static List<Store.ActorId> ids(int count) {
    var actors = new ArrayList<Store.ActorId>();
    for (int i = 0; i < count; i++) actors.add(id("a" + i));
    return actors;
  }

  @Test
  void waitingLoadsShareTransactions() {
    var store = openPaused(1);
    var loads = startAll(store, ids(2 * ActorLoader.MAX_LOADS));

    begins.gate.countDown();

    for (var load : loads) Patience.value(load.result);
    assertEquals(3, begins.begins.get());
    for (int i = 0; i < loads.size(); i++)
      append(store, turn(id("a" + i), loads.get(i).result.resultNow().life(), 1));
    assertEquals(1, store.load(id("a7")).lastTurn());
  }

  @Test
  void sharedTransactionReadsEachActor() {
    var setupStore = open();
    var actors = ids(6);
    for (int i = 0; i < 3; i++) {
      long life = setupStore.load(actors.get(i)).life();
      for (int n = 1; n <= i + 1; n++) append(setupStore, turn(actors.get(i), life, n));
      var message = new StoreBackend.PendingMessage(actors.get(i), "m" + i, StoreBackend.PendingMessage.ALWAYS,
          new byte[1]);
      setupStore.enqueue(message, 9).toCompletableFuture().join();
    }
    long snapshotLife = setupStore.load(actors.get(2)).life();
    append(setupStore, turn(actors.get(2), snapshotLife, 4));
    setupStore.snapshot(turn(actors.get(2), snapshotLife, 4, true, (byte) 9));
    append(setupStore, turn(actors.get(2), snapshotLife, 5));
    setupStore.close();
    var store = openPaused(1);
    var loads = startAll(store, actors);

    begins.gate.countDown();

    assertEquals(List.of(1L, 2L, 5L, 0L, 0L, 0L),
        loads.stream().map(load -> Patience.value(load.result).lastTurn()).toList());
    assertEquals(List.of(1, 2, 2, 0, 0, 0), loads.stream().map(load -> load.result.resultNow().bodies().size())
        .toList());
    assertEquals(9, loads.get(2).result.resultNow().bodies().getFirst()[0]);
    for (int i = 0; i < 6; i++)
      assertEquals(i < 3 ? List.of("m" + i) : List.of(), loads.get(i).result.resultNow().pendingIds());
    assertEquals(2, begins.begins.get());
  }

  @Test
  void lockedActorDoesNotHoldUpOtherLoads() throws Exception {
    var store = openPaused(2);
    var setupStore = open(database);
    setupStore.load(ADA);
    var lockedLoad = startAll(store, List.of(ADA)).getFirst();
    var otherLoads = startAll(store, ids(10));
    try (var lockHolder = database.getConnection(); var statement = lockHolder.createStatement()) {
      lockHolder.setAutoCommit(false);
      statement.execute("select * from fibry_actor where actor = 'ada' for update");

      begins.gate.countDown();

      for (var load : otherLoads) Patience.value(load.result);
      assertFalse(lockedLoad.result.isDone());
      lockHolder.rollback();
    }
    Patience.value(lockedLoad.result);
  }

  @Test
  void damagedActorFailsNoOtherLoad() throws Exception {
    var setupStore = open(database);
    long life = setupStore.load(ADA).life();
    for (int i = 1; i <= 3; i++) append(setupStore, turn(ADA, life, i));
    execute("delete from fibry_turn where number = 2");
    var store = openPaused(1);
    var loads = startAll(store, List.of(id("a"), ADA, id("b")));

    begins.gate.countDown();

    assertInstanceOf(StoreDamagedException.class, Patience.failure(loads.get(1).result));
    append(store, turn(id("a"), Patience.value(loads.get(0).result).life(), 1));
    append(store, turn(id("b"), Patience.value(loads.get(2).result).life(), 1));
    append(setupStore, turn(ADA, life, 4)); // the failed loads have begun no life
  }

  /** Otherwise the new life would refuse the turn, which the store has got before. */
  @Test
  void loadWaitsForWaitingTurnOfActor() {
    var store = open();
    long life = store.load(ADA).life();
    long otherLife = store.load(id("a")).life();
    var gate = new CountDownLatch(1);
    var isPaused = new CountDownLatch(1);
    faults.onNextCommit((connection, call) -> {
      isPaused.countDown();
      gate.await();
      return call.pass();
    });
    store.append(turn(id("a"), otherLife, 1));
    Patience.await(isPaused);
    var waitingTurn = store.append(turn(ADA, life, 1)).toCompletableFuture();
    var load = start(store, ADA);
    eventually(() -> load.fiber.getState() == Thread.State.WAITING || load.result.isDone());

    gate.countDown();

    Patience.value(waitingTurn);
    assertEquals(1, Patience.value(load.result).lastTurn());
  }

  @Test
  void eachLoadOfSameActorBeginsLife() {
    var store = openPaused(1);
    var actors = new ArrayList<Store.ActorId>();
    for (int i = 0; i < 5; i++) actors.addAll(List.of(ADA, id("a" + i)));
    var loads = startAll(store, actors);

    begins.gate.countDown();

    var lives = new HashSet<Long>();
    for (int i = 0; i < loads.size(); i += 2) lives.add(Patience.value(loads.get(i).result).life());
    assertEquals(5, lives.size());
    long lastLife = store.load(ADA).life();
    append(store, turn(ADA, lastLife, 1));
  }

  @Test
  void closingStoreEndsWaitingLoads() {
    var store = openPaused(1);
    var loads = startAll(store, ids(40));
    var closing = Patience.startFiber(store::close);
    Patience.awaitParked(closing);

    begins.gate.countDown();

    for (var load : loads) assertEquals(0, Patience.value(load.result).lastTurn());
    Patience.awaitEnd(closing);
  }

  @Test
  void interruptedLoadDoesNotFailLoadsOfSameTransaction() {
    var store = openPaused(1);
    var loads = startAll(store, ids(3));

    loads.get(1).fiber.interrupt();

    Patience.failure(loads.get(1).result);
    begins.gate.countDown();
    assertEquals(0, Patience.value(loads.get(0).result).lastTurn());
    assertEquals(0, Patience.value(loads.get(2).result).lastTurn());
  }

  @Test
  void waitingLoadsSucceedWhenConnectionIsLost() {
    for (var loss : List.<Faults.Fault>of(Faults::loseConnectionBefore, Faults::loseConnectionAfter)) {
      var store = open(faults.source(), options -> options.withMaxReaders(1).withStatementLimit(LIMIT));
      var gate = new CountDownLatch(1);
      var isPaused = new CountDownLatch(1);
      faults.onNextCommit((connection, call) -> {
        isPaused.countDown();
        gate.await();
        faults.onNextCommit(loss); // of the transaction that the waiting loads share
        return call.pass();
      });
      var first = start(store, id("first"));
      Patience.await(isPaused);
      var loads = startAll(store, ids(10));

      gate.countDown();

      Patience.value(first.result);
      for (int i = 0; i < loads.size(); i++) {
        var loaded = Patience.value(loads.get(i).result);
        append(store, turn(id("a" + i), loaded.life(), loaded.lastTurn() + 1));
      }
    }
  }

  @Test
  void waitingLoadsFailWhileDatabaseIsDown() {
    var store = openPaused(1);
    var loads = startAll(store, ids(40));
    faults.setDown(true);

    begins.gate.countDown();

    for (var load : loads) assertInstanceOf(StoreReadException.class, Patience.failure(load.result));
    faults.setDown(false);
    assertTrue(store.load(id("a1")).life() > 0);
  }
}
