package io.fibry.nats;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.GRACE;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.refusal;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.RequestOutcome;
import io.fibry.store.StaleLifeException;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreWriteException;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests writes whose answer is lost, so that it is unknown whether they are stored. */
class LostAnswersTest extends StreamFixture {
  private static final Duration SHORT_LIMIT = Duration.ofSeconds(1);

  @Test
  void turnIsStoredOnceWhenAnswerIsLost() {
    long life = store.load(ADA).life();
    faulty.loseAnswers(2);

    append(store, turn(ADA, life, 1));
    append(store, turn(ADA, life, 2));

    assertEquals(3, countMessages(subjects.turns(ADA)));
    assertEquals(2, store.load(ADA).bodies().size());
  }

  @Test
  void turnWithMessagesIsStoredOnceWhenAnswerIsLost() {
    long life = store.load(ADA).life();
    faulty.loseAnswers(1);

    append(store, turnWithMessages(ADA, life, 1, List.of(), message(GRACE, "one"), message(GRACE, "two")));

    assertEquals(List.of("one", "two"), pendingIds(GRACE));
    assertEquals(2, countMessages(subjects.messagesFilter(GRACE)));
  }

  @Test
  void messageIsStoredOnceWhenAnswerIsLost() {
    faulty.loseAnswers(1);

    assertTrue(store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join());

    assertEquals(1, countMessages(subjects.messagesFilter(ADA)));
  }

  @Test
  void loadOfActorSucceedsThoughServerAnswerIsLost() {
    faulty.loseAnswers(1);
    append(store, turn(ADA, store.load(ADA).life(), 1));

    assertEquals(1, store.load(ADA).lastTurn());
  }

  @Test
  void storedTurnIsAcknowledgedThoughNewLifeHasBegun() {
    var otherStore = open().store();
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    faulty.loseAnswers(1);
    faulty.runBeforeWrite(() -> otherStore.load(ADA));

    append(store, turn(ADA, life, 2)); // succeeds: the turn was stored before the new life began

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 3))));
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void turnThatNeverReachesServerHasUnknownOutcome() {
    var shortLimitStore = open(SHORT_LIMIT);
    var store = shortLimitStore.store();
    long life = store.load(ADA).life();
    shortLimitStore.loseWrites(1_000);

    var failure = assertInstanceOf(StoreUnconfirmedException.class, refusal(store.append(turn(ADA, life, 1))));

    assertTrue(failure.getMessage().startsWith("it is unknown whether the store in stream FB_" + app
        + "_log has turn 1 of account 'ada': "), failure.getMessage());
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 2))));
  }

  /**
   * If the machine is suspended for three minutes after a write, the server no longer knows the id
   * of the message. If the message were sent again, the server would store it twice.
   */
  @Test
  void messageIsNotResentAfterMachineWasSuspended() {
    faulty.suspendAfterWrite(Duration.ofMinutes(3));

    var failure = refusal(store.enqueue(message(ADA, "one"), Integer.MAX_VALUE));

    assertEquals(RequestOutcome.UNKNOWN, assertInstanceOf(StoreUnconfirmedException.class, failure).outcome());
    assertEquals(List.of("one"), pendingIds(ADA));
  }

  /**
   * If a lost message were sent again, it would be stored after later messages. Therefore its
   * sender gets an exception.
   */
  @Test
  void lostMessageIsNotResentAfterLaterMessagesAreStored() {
    var shortLimitStore = open(SHORT_LIMIT);
    var store = shortLimitStore.store();
    assertTrue(store.enqueue(message(ADA, "first"), 9).toCompletableFuture().join());
    var gate = new CompletableFuture<Void>();
    var firstWriteBegun = new CompletableFuture<Void>();
    shortLimitStore.runBeforeWrite(() -> {
      firstWriteBegun.complete(null);
      gate.join(); // until the two other writes have arrived
    });
    shortLimitStore.loseWrites(1);
    var heldWrite = store.enqueue(message(ADA, "held"), 9).toCompletableFuture();
    Patience.value(firstWriteBegun);
    var lostWrite = store.enqueue(message(ADA, "lost"), 9).toCompletableFuture();
    var lastWrite = store.enqueue(message(ADA, "last"), 9).toCompletableFuture();
    gate.complete(null);

    assertTrue(Patience.value(heldWrite));
    assertTrue(Patience.value(lastWrite));
    assertEquals(RequestOutcome.UNKNOWN,
        assertInstanceOf(StoreUnconfirmedException.class, refusal(lostWrite)).outcome());
    assertEquals(List.of("first", "held", "last"), pendingIds(ADA));
  }

  /** The answers to a message and to a later message of its sender may come at the same time. */
  @Test
  void messagesAreConfirmedInOrderThoughOneAnswerIsLate() {
    var gate = new CompletableFuture<Void>();
    faulty.runBeforeWrite(gate::join); // until the two other writes have arrived
    faulty.delayAnswer(1);
    var heldWrite = store.enqueue(message(ADA, "held"), 9).toCompletableFuture();
    var slowWrite = store.enqueue(message(ADA, "slow"), 9).toCompletableFuture();
    var lastWrite = store.enqueue(message(ADA, "last"), 9).toCompletableFuture();
    var completedWrites = new CopyOnWriteArrayList<String>();
    slowWrite.thenRun(() -> completedWrites.add("slow"));
    lastWrite.thenRun(() -> completedWrites.add("last"));
    gate.complete(null);

    assertTrue(Patience.value(heldWrite));
    assertTrue(Patience.value(slowWrite));
    assertTrue(Patience.value(lastWrite));
    assertEquals(List.of("held", "slow", "last"), pendingIds(ADA));
    Patience.eventually(() -> completedWrites.equals(List.of("slow", "last")));
  }

  @Test
  void refusedTurnStoresNoneOfItsMessages() {
    long life = store.load(ADA).life();
    faulty.failNext(1);

    assertInstanceOf(StoreWriteException.class,
        refusal(store.append(turnWithMessages(ADA, life, 1, List.of(), message(GRACE, "one")))));

    assertEquals(List.of(), pendingIds(GRACE));
  }

  @Test
  void writeRefusedAfterLostAnswerHasUnknownOutcome() {
    long life = store.load(ADA).life();
    faulty.loseAnswers(1);
    faulty.failNext(1);
    assertInstanceOf(StoreUnconfirmedException.class, refusal(store.append(turn(ADA, life, 1))));
    assertEquals(1, store.load(ADA).lastTurn()); // the turn is stored

    faulty.loseAnswers(1);
    faulty.failNext(1);
    assertInstanceOf(StoreUnconfirmedException.class, refusal(store.enqueue(message(ADA, "one"), Integer.MAX_VALUE)));
    assertEquals(List.of("one"), pendingIds(ADA));
  }

  /**
   * The answer to turn 2 is lost. Before the store sends the turn again, another store writes later
   * turns and purges turn 2.
   */
  @Test
  void turnPurgedBeforeItsResendHasUnknownOutcome() {
    var otherStore = open().store();
    append(store, turn(ADA, store.load(ADA).life(), 1, true, (byte) 1));
    long life = store.load(ADA).life();
    faulty.loseAnswers(1);
    faulty.runBeforeWrite(() -> {
      long nextLife = otherStore.load(ADA).life();
      for (int i = 3; i < 100; i++) append(otherStore, turn(ADA, nextLife, i, true, (byte) i));
      Patience.eventually(() -> countMessages(subjects.turns(ADA)) < 90);
    });

    assertEquals(RequestOutcome.UNKNOWN,
        assertInstanceOf(StoreUnconfirmedException.class, refusal(store.append(turn(ADA, life, 2)))).outcome());
  }

  /**
   * If each write had a limit of its own, the last write would wait for some minutes. Each write
   * has a sender of its own, because only the last write of a sender is retried.
   */
  @Test
  void retriedWritesShareOneLimit() {
    var shortLimitStore = open(SHORT_LIMIT);
    shortLimitStore.loseWrites(1_000_000);
    var senders = IntStream.range(0, 500).mapToObj(i -> CompletableFuture.supplyAsync(
        () -> shortLimitStore.store().enqueue(message(ADA, "m" + i), Integer.MAX_VALUE).toCompletableFuture(),
        Patience::startFiber)).toList();

    var writes = senders.stream().map(Patience::value).toList();

    try { // one wait for all writes, so that the test has one limit, too
      assertInstanceOf(StoreUnconfirmedException.class,
          Patience.failure(CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new))));
    } finally {
      shortLimitStore.allowWrites(); // otherwise the close of the store would wait for the writes
    }
    for (var write : writes) assertInstanceOf(StoreUnconfirmedException.class, refusal(write));
  }

  @Test
  void callbackOfWriteCanNeitherLoadActorNorCloseStore() {
    long life = store.load(ADA).life();
    var gate = new CompletableFuture<Void>();
    faulty.runBeforeWrite(gate::join);
    faulty.runBeforeWrite(gate::join);
    var turn = store.append(turn(ADA, life, 1)).toCompletableFuture();
    var message = store.enqueue(message(ADA, "one"), Integer.MAX_VALUE).toCompletableFuture();
    var turnFailure = turn.handle((result, failure) -> assertThrows(IllegalStateException.class, () -> store.load(ADA)))
        .thenApply(result -> assertThrows(IllegalStateException.class, store::close));
    var messageFailure = message.handle((result, failure) -> assertThrows(IllegalStateException.class, store::close));
    gate.complete(null);

    assertEquals("a store cannot be closed by a callback of its own writes; close it on another thread",
        turnFailure.join().getMessage());
    assertEquals(turnFailure.join().getMessage(), messageFailure.join().getMessage());
  }
}
