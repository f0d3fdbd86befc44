package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.GRACE;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.refusal;
import static io.fibry.durable.TestTurns.turn;
import static io.fibry.support.Patience.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.durable.Durable;
import io.fibry.durable.StorageFailedException;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreReadException;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.support.UnreadableException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how a store reacts to faults of its database and of the network to it. */
abstract class FaultContract extends DatabaseFixture {
  private static final Duration IDLE = Duration.ofMinutes(5);

  /** Adds one to a counter, unless {@code readOnly} is set. The answer is the count afterwards. */
  record Count(boolean readOnly) implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L)
      .handler((n, count, context) -> {
        context.reply(count, count.readOnly() ? n : n + 1);
        return count.readOnly() ? n : n + 1;
      });

  private final ActorScope scope = ActorSystem.openScope("faults");
  private final StoreBackend store = open();
  private final CountDownLatch gate = new CountDownLatch(1); // handlers or commits wait for it

  FaultContract(Maker maker) {
    super(maker);
  }

  @AfterEach
  void closeScope() {
    gate.countDown();
    scope.close();
  }

  private Actor<Count> counter() {
    return COUNTER.newActor(scope.named("ada"), store);
  }

  // ---- commits

  @Test
  void turnIsStoredWhenConnectionIsLostAfterCommit() {
    var counter = counter();
    assertEquals(1, counter.ask(new Count(false)));
    faults.onNextCommit(Faults::loseConnectionAfter);

    var failure = assertThrows(StorageFailedException.class, () -> counter.ask(new Count(false)));

    assertEquals(RequestOutcome.UNKNOWN, failure.outcome());
    assertTrue(failure.getMessage().startsWith("counter 'ada' handled Count[readOnly=false], and could not store the "
        + "effects; it may be stored nevertheless: the store in jdbc:"), failure.getMessage());
    assertTrue(failure.getMessage().endsWith(
        " lost the connection during a commit: the connection is gone, as the test has asked for"));
    assertInstanceOf(StoreUnconfirmedException.class, failure.getCause());
    assertEquals(2, counter.ask(new Count(true)));
    assertEquals(3, counter.ask(new Count(false)));
  }

  @Test
  void turnIsNotStoredWhenConnectionIsLostBeforeCommit() {
    var counter = counter();
    assertEquals(1, counter.ask(new Count(false)));
    faults.onNextCommit(Faults::loseConnectionBefore);

    assertEquals(RequestOutcome.UNKNOWN,
        assertThrows(StorageFailedException.class, () -> counter.ask(new Count(false))).outcome());

    assertEquals(1, counter.ask(new Count(true)));
    assertEquals(2, counter.ask(new Count(false)));
  }

  @Test
  void unconfirmedCommitOfMessageHasUnknownOutcome() {
    faults.onNextCommit(Faults::loseConnectionAfter);
    var message = new StoreBackend.PendingMessage(ADA, "m", Instant.EPOCH, new byte[1]);

    assertInstanceOf(StoreUnconfirmedException.class, refusal(store.enqueue(message, 9)));

    assertEquals(1, store.pending(ADA, Instant.MAX, 9).size());
  }

  @Test
  void turnIsRetriedAfterTransientDatabaseErrors() {
    var counter = counter();
    long n = counter.ask(new Count(true));
    for (var state : List.of("08006", "40001", "40P01", "57P01")) {
      faults.onNextStatement((connection, call) -> {
        throw new SQLException("made up, for a test", state);
      });
      assertEquals(++n, counter.ask(new Count(false)));
    }
    faults.onNextCommit((connection, call) -> {
      connection.rollback();
      throw new SQLException("made up, for a test", "40001");
    });
    assertEquals(++n, counter.ask(new Count(false)));
  }

  @Test
  void statementIsRetriedAfterLockTimeouts() {
    var counter = counter();
    long n = counter.ask(new Count(true));
    for (var state : List.of("HYT00", "55P03")) {
      var timeouts = new AtomicInteger(5);
      faults.onNextStatement(new Faults.Fault() {
        @Override
        public Object run(Connection connection, Intercepted.Call call) throws SQLException {
          if (timeouts.decrementAndGet() > 0) faults.onNextStatement(this);
          throw new SQLException("a lock request timed out, as the test has asked for", state);
        }
      });
      assertEquals(++n, counter.ask(new Count(false)));
      assertEquals(0, timeouts.get());
    }
  }

  @Test
  void lockTimeoutDuringCommitHasUnknownOutcome() {
    var counter = counter();
    assertEquals(1, counter.ask(new Count(false)));
    faults.onNextCommit((connection, call) -> {
      call.pass();
      throw new SQLException("made up, for a test", "HYT00");
    });

    assertEquals(RequestOutcome.UNKNOWN,
        assertThrows(StorageFailedException.class, () -> counter.ask(new Count(false))).outcome());

    assertEquals(2, counter.ask(new Count(true)));
  }

  @Test
  void turnWithRefusedStatementHasOutcomeNotDone() {
    long life = store.load(ADA).life();
    faults.onNextStatement((connection, call) -> {
      throw new SQLException("made up, for a test", "25006");
    });

    var failure = assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 1))));

    assertEquals(RequestOutcome.NOT_DONE, failure.outcome());
    assertTrue(failure.getMessage().endsWith(" could not write: made up, for a test"), failure.getMessage());
    append(store, turn(ADA, store.load(ADA).life(), 1));
  }

  @Test
  void fullDiskFailsTurnWithStoreFullException() {
    long life = store.load(ADA).life();
    faults.onNextStatement((connection, call) -> {
      throw new SQLException("could not extend file", "53100");
    });

    assertInstanceOf(StoreFullException.class, refusal(store.append(turn(ADA, life, 1))));
  }

  @Test
  void outOfMemoryErrorOfDriverFailsOnlyOneCommit() {
    long life = store.load(ADA).life();
    faults.onNextStatement((connection, call) -> {
      throw new OutOfMemoryError("made up, for a test");
    });
    assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 1))));
    faults.onNextCommit((connection, call) -> {
      throw new OutOfMemoryError("made up, for a test");
    });
    assertInstanceOf(StoreUnconfirmedException.class, refusal(store.append(turn(ADA, life, 1))));

    append(store, turn(ADA, store.load(ADA).life(), 1));
  }

  // ---- an unavailable database

  @Test
  void storeContinuesWhenDatabaseReturns() {
    var counter = counter();
    assertEquals(1, counter.ask(new Count(false)));
    faults.setDown(true);

    var refused = assertThrows(StorageFailedException.class, () -> counter.ask(new Count(false)));
    assertEquals(RequestOutcome.NOT_DONE, refused.outcome());
    assertInstanceOf(StoreReadException.class, assertThrows(RuntimeException.class,
        () -> counter.ask(new Count(false)))); // the actor must read its state again, and cannot
    faults.setDown(false);

    assertEquals(2, counter.ask(new Count(false)));
  }

  @Test
  void storedMessagesAreRedeliveredWhenDatabaseReturns() {
    var handlerStarted = new CountDownLatch(1);
    List<String> handled = new CopyOnWriteArrayList<>();
    var kind = Durable.kind("list", String.class).storeMessages(100).state("").handler((texts, text, context) -> {
      handlerStarted.countDown();
      gate.await();
      handled.add(text);
      return texts + text;
    });
    var lists = kind.entities(scope.anonymous(), store, IDLE);
    assertTrue(lists.actor("ada").sendMessage("a"));
    assertTrue(lists.actor("ada").sendMessage("b"));
    Patience.await(handlerStarted);
    faults.setDown(true);

    gate.countDown(); // the handlers continue, but their turns cannot be stored
    eventually(() -> handled.size() >= 1);
    assertFalse(lists.actor("ada").sendMessage("c"));
    faults.setDown(false);

    eventually(() -> store.pending(new Store.ActorId("list", "ada"), Instant.MAX, 9).isEmpty());
    lists.close();
    var reader = Durable.kind("list", ReadTexts.class).state("").handler((texts, request, context) -> {
      context.reply(request, texts);
      return texts;
    });
    assertEquals("ab", reader.newActor(scope.openScope("reader").named("ada"), store).ask(new ReadTexts()));
  }

  record ReadTexts() implements Request<ReadTexts, String> {}

  record Add(String text) implements Request<Add, Integer> {}

  record Added(String text) {}

  @Test
  void viewContinuesWhenDatabaseReturns() {
    var kind = Durable.kind("list", Add.class).events(Added.class, 0, (Integer count, Added added) -> count + 1)
        .handler((count, add, context) -> context.reply(add, context.persist(new Added(add.text()))));
    List<String> received = new CopyOnWriteArrayList<>();
    var failures = new AtomicInteger();
    var view = Durable.view("list", Added.class).named("seen").newActor(scope.anonymous(), store, stored -> {
      boolean mustFail = stored.event().text().equals("b") && failures.getAndIncrement() == 0;
      if (mustFail) faults.setDown(true); // before the test sees "b", so the view cannot store its offset after "b"
      received.add(stored.event().text());
    });
    var list = kind.newActor(scope.named("ada"), store);
    list.ask(new Add("a"));
    list.ask(new Add("b"));
    eventually(() -> received.contains("b"));
    faults.awaitRefusal();
    faults.setDown(false);
    list.ask(new Add("c"));

    eventually(() -> received.contains("c"));
    view.close();
  }

  @Test
  void failedScanForEndedActorsIsRepeatedAfterNextCommit() throws SQLException {
    var now = new AtomicReference<>(Instant.EPOCH);
    var hasFailed = new CountDownLatch(1);
    // one reader thread, so that a read begins only after earlier scans have ended
    try (var seenStore =
        StoreBackend.of(JdbcStore.open(faults.source(), options -> options.withMaxReaders(1).withClock(now::get)))) {
      var view = new ViewOffset("account", "seen", "").actor();
      long viewLife = seenStore.load(view).life();
      append(seenStore, turn(view, viewLife, 1, true, new byte[0]));
      long life = seenStore.load(ADA).life();
      for (int i = 1; i <= 3; i++) append(seenStore, turn(ADA, life, i));
      seenStore.end(turn(ADA, life, 4, true)).toCompletableFuture().join();
      String end = seenStore.turns(ADA).getLast().offset();
      assertEquals(4, number("select count(*) from fibry_turn where actor = 'ada'"));
      faults.onNextStatement("s.number, t.whole", (connection, call) -> {
        hasFailed.countDown();
        throw new SQLException("made up, for a test", "25006", new UnreadableException());
      });

      append(seenStore, turn(view, viewLife, 2, true, end.getBytes(StandardCharsets.UTF_8)));
      Patience.await(hasFailed);

      long graceLife = seenStore.load(GRACE).life();
      var graceTurns = new AtomicInteger();
      eventually(() -> {
        now.updateAndGet(time -> time.plusSeconds(60));
        append(seenStore, turn(GRACE, graceLife, graceTurns.incrementAndGet()));
        return seenStore.turns(ADA).size() == 1;
      });
    }
  }

  // ---- connections

  @Test
  void waitingHandlerHoldsNoConnection() {
    var handlerStarted = new CountDownLatch(20);
    var kind = Durable.kind("slow", Count.class).storeMessages(9).state(0L).handler((n, count, context) -> {
      handlerStarted.countDown();
      gate.await();
      context.reply(count, n + 1);
      return n + 1;
    });
    var slow = kind.entities(scope.anonymous(), store, IDLE);
    for (int i = 0; i < 20; i++) assertTrue(slow.actor("a" + i).sendMessage(new Count(false)));

    Patience.await(handlerStarted);

    eventually(() -> faults.borrowedConnections() == 0);
    gate.countDown();
  }

  @Test
  void turnsAreRefusedWhileConnectionPoolIsExhausted() throws SQLException {
    try (var smallPool = Pools.of(database, 1, 250);
        var limitedStore = patiently(() -> StoreBackend.of(JdbcStore.open(smallPool)))) {
      long life = patiently(() -> limitedStore.load(ADA).life());
      var connection = patiently(smallPool::getConnection);

      assertInstanceOf(StoreWriteException.class, refusal(limitedStore.append(turn(ADA, life, 1))));
      assertThrows(StoreReadException.class, () -> limitedStore.load(ADA));

      connection.close();
      patiently(() -> {
        var ada = limitedStore.load(ADA);
        append(limitedStore, turn(ADA, ada.life(), ada.lastTurn() + 1));
        return ada;
      });
    }
  }

  /** Repeats the action, because a busy machine may exceed the short limit of a test's pool. */
  static <T> T patiently(Callable<T> action) {
    var result = new AtomicReference<T>();
    eventually(() -> {
      try {
        result.set(action.call());
        return true;
      } catch (StoreException | SQLException | CompletionException | PoolInitializationException slow) {
        return false;
      } catch (Exception failure) {
        throw new AssertionError(failure);
      }
    });
    return result.get();
  }

  @Test
  void actorsAnswerThroughPoolOfSingleConnection() {
    pool.setMaximumPoolSize(1);
    try (var counters = COUNTER.entities(scope.anonymous(), store, IDLE)) {
      var answers = new ArrayList<CompletableFuture<Long>>();
      for (int i = 0; i < 200; i++) answers.add(counters.actor("c" + i % 20).sendMessageReturn(new Count(false)));
      assertEquals(10, answers.stream().mapToLong(CompletableFuture::join).max().getAsLong());
    }
  }

  @Test
  void appendWaitingForCapacityCanBeInterrupted() throws Exception {
    var limitedStore = StoreBackend.of(JdbcStore.open(faults.source(), options -> options.withMaxPendingBytes(4096)));
    long life = limitedStore.load(ADA).life();
    faults.onNextCommit((connection, call) -> {
      gate.await();
      return call.pass();
    });
    limitedStore.append(turn(ADA, life, 1, false, new byte[3000]));
    var appending = new FutureTask<>(() -> assertThrows(CancellationException.class,
        () -> limitedStore.append(turn(ADA, life, 2, false, new byte[3000]))));
    var thread = Thread.ofVirtual().start(appending);
    Patience.awaitParked(thread);

    thread.interrupt();

    Patience.value(appending);
    gate.countDown();
    assertEquals(1, limitedStore.load(ADA).lastTurn());
    limitedStore.close();
  }

  @Test
  void invalidStoreOptionsAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> JdbcStore.open(pool, options -> options.withMaxPendingBytes(0)));
    assertThrows(IllegalArgumentException.class, () -> JdbcStore.open(pool, options -> options.withMaxReaders(0)));
    assertThrows(IllegalArgumentException.class,
        () -> JdbcStore.open(pool, options -> options.withStatementLimit(Duration.ZERO)));
    assertThrows(IllegalArgumentException.class,
        () -> JdbcStore.open(pool, options -> options.withPollInterval(Duration.ofSeconds(Long.MAX_VALUE))));
    assertThrows(NullPointerException.class, () -> JdbcStore.open(null));
  }

  @Test
  void unavailableDatabaseIsReportedAtOpening() {
    faults.setDown(true);

    var failure = assertThrows(StoreReadException.class, () -> JdbcStore.open(faults.source()));

    assertEquals("the store in a database cannot be opened: there is no database, as the test has asked for",
        failure.getMessage());
  }
}
