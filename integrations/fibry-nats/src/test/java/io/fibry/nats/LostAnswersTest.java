package io.fibry.nats;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.GRACE;
import static io.fibry.durable.Turning.append;
import static io.fibry.durable.Turning.refusal;
import static io.fibry.durable.Turning.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Outcome;
import io.fibry.store.StaleLifeException;
import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreWriteException;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A server that has stored something, or not, and nobody hears of it. */
class LostAnswersTest extends StreamFixture {
  private static final Duration SHORT = Duration.ofSeconds(1);

  @Test
  void turnIsStoredOnceWhenAnswerIsLost() {
    long life = store.load(ADA).life();
    faulty.loseAnswers(2);

    append(store, turn(ADA, life, 1));
    append(store, turn(ADA, life, 2));

    assertEquals(3, messages(subjects.turns(ADA)));
    assertEquals(2, store.load(ADA).bodies().size());
  }

  @Test
  void turnWithMessagesIsStoredOnceWhenAnswerIsLost() {
    long life = store.load(ADA).life();
    faulty.loseAnswers(1);

    append(store, sending(ADA, life, 1, List.of(), message(GRACE, "one"), message(GRACE, "two")));

    assertEquals(List.of("one", "two"), waiting(GRACE));
    assertEquals(2, messages(subjects.messagesFilter(GRACE)));
  }

  @Test
  void messageIsStoredOnceWhenAnswerIsLost() {
    faulty.loseAnswers(1);

    assertTrue(store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join());

    assertEquals(1, messages(subjects.messagesFilter(ADA)));
  }

  @Test
  void lifeBeginsWhenItsAnswerIsLost() {
    faulty.loseAnswers(1);
    append(store, turn(ADA, store.load(ADA).life(), 1));

    assertEquals(1, store.load(ADA).lastTurn());
  }

  @Test
  void storedTurnIsAcknowledgedDespiteNewLife() {
    var other = open().store();
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    faulty.loseAnswers(1);
    faulty.before(() -> other.load(ADA));

    append(store, turn(ADA, life, 2)); // it is

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 3))));
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void turnThatNeverReachesServerHasUnknownOutcome() {
    var hasty = open(SHORT);
    var store = hasty.store();
    long life = store.load(ADA).life();
    hasty.loseWrites(1_000);

    var failure = assertInstanceOf(StoreBusyException.class, refusal(store.append(turn(ADA, life, 1))));

    assertTrue(failure.getMessage().startsWith("it is unknown whether the store in stream FB_" + app
        + "_log has turn 1 of account 'ada': "), failure.getMessage());
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 2))));
  }

  /** By then the server has forgotten its id, so it could be stored twice. */
  @Test
  void messageIsNotResentAfterSuspension() {
    faulty.suspendAfterWrite(Duration.ofMinutes(3));

    var failure = refusal(store.enqueue(message(ADA, "one"), Integer.MAX_VALUE));

    assertEquals(Outcome.UNKNOWN, assertInstanceOf(StoreBusyException.class, failure).outcome());
    assertEquals(List.of("one"), waiting(ADA));
  }

  /** They would get behind later messages that were stored, so their sender hears of it. */
  @Test
  void lostMessageIsNotStoredAfterLaterMessages() {
    var faulty = open(SHORT);
    var store = faulty.store();
    assertTrue(store.enqueue(message(ADA, "first"), 9).toCompletableFuture().join());
    var gate = new CompletableFuture<Void>();
    var begun = new CompletableFuture<Void>();
    faulty.before(() -> {
      begun.complete(null);
      gate.join(); // until both other threads have come
    });
    faulty.loseWrites(1);
    var held = store.enqueue(message(ADA, "held"), 9).toCompletableFuture();
    begun.join();
    var lost = store.enqueue(message(ADA, "lost"), 9).toCompletableFuture();
    var last = store.enqueue(message(ADA, "last"), 9).toCompletableFuture();
    gate.complete(null);

    assertTrue(held.join());
    assertTrue(last.join());
    assertEquals(Outcome.UNKNOWN, assertInstanceOf(StoreBusyException.class, refusal(lost)).outcome());
    assertEquals(List.of("first", "held", "last"), waiting(ADA));
  }

  @Test
  void refusedTurnStoresNoneOfItsMessages() {
    long life = store.load(ADA).life();
    faulty.failNext(1);

    assertInstanceOf(StoreWriteException.class,
        refusal(store.append(sending(ADA, life, 1, List.of(), message(GRACE, "one")))));

    assertEquals(List.of(), waiting(GRACE));
  }

  @Test
  void refusalAfterLostAnswerIsUncertain() {
    long life = store.load(ADA).life();
    faulty.loseAnswers(1);
    faulty.failNext(1);
    assertInstanceOf(StoreBusyException.class, refusal(store.append(turn(ADA, life, 1))));
    assertEquals(1, store.load(ADA).lastTurn()); // the turn is stored

    faulty.loseAnswers(1);
    faulty.failNext(1);
    assertInstanceOf(StoreBusyException.class, refusal(store.enqueue(message(ADA, "one"), Integer.MAX_VALUE)));
    assertEquals(List.of("one"), waiting(ADA));
  }

  /** Earlier turns may have been removed by the store that has stored more. */
  @Test
  void turnRemovedBeforeLookupHasUnknownOutcome() {
    var other = open().store();
    append(store, turn(ADA, store.load(ADA).life(), 1, true, (byte) 1));
    long life = store.load(ADA).life();
    faulty.loseAnswers(1);
    faulty.before(() -> {
      long next = other.load(ADA).life();
      for (int i = 3; i < 100; i++) append(other, turn(ADA, next, i, true, (byte) i));
      Patience.eventually(() -> messages(subjects.turns(ADA)) < 90);
    });

    assertEquals(Outcome.UNKNOWN,
        assertInstanceOf(StoreBusyException.class, refusal(store.append(turn(ADA, life, 2)))).outcome());
  }

  /** One after the other they would take longer than the test may. */
  @Test
  void retriedWritesShareOneLimit() {
    var hasty = open(SHORT);
    hasty.loseWrites(1_000_000);

    var all = IntStream.range(0, 500).mapToObj(i -> hasty.store().enqueue(message(ADA, "m" + i), Integer.MAX_VALUE))
        .toList();

    for (var one : all) assertInstanceOf(StoreBusyException.class, refusal(one));
  }

  @Test
  void answerCallbackCannotBlockOnItsStore() {
    long life = store.load(ADA).life();
    var gate = new CompletableFuture<Void>();
    faulty.before(gate::join);
    faulty.before(gate::join);
    var turn = store.append(turn(ADA, life, 1)).toCompletableFuture();
    var message = store.enqueue(message(ADA, "one"), Integer.MAX_VALUE).toCompletableFuture();
    var refused = turn.handle((none, failure) -> assertThrows(IllegalStateException.class, () -> store.load(ADA)))
        .thenApply(none -> assertThrows(IllegalStateException.class, store::close));
    var both = message.handle((none, failure) -> assertThrows(IllegalStateException.class, store::close));
    gate.complete(null);

    assertEquals("a store cannot be closed by what an answer runs; close it on another thread",
        refused.join().getMessage());
    assertEquals(refused.join().getMessage(), both.join().getMessage());
  }
}
