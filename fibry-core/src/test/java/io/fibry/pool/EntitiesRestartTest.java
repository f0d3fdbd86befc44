package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter;
import io.fibry.Strategy;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Order;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests messages to an entity while its old actor is being saved and its next actor does not exist
 * yet.
 */
class EntitiesRestartTest {
  private static final Duration LIMIT = Duration.ofSeconds(1); // on the manual clock of the bank

  private final BankFixture bank = new BankFixture(Strategy.FIBER);
  private final Gate saveGate = new Gate();

  @AfterEach
  void close() {
    saveGate.open();
    bank.close();
  }

  @BeforeEach
  void waitUntilAdaIsBeingSaved() {
    bank.saveGate = saveGate;
    bank.ada().sendMessage(new Pay(5));
    bank.advanceBeyondIdleTime();
    Patience.await(saveGate.entered);
    bank.saveGate = null;
  }

  private static <T> CompletableFuture<T> startAndAwaitParked(Callable<T> code) {
    var result = new CompletableFuture<T>();
    Patience.awaitParked(Patience.startFiber(code, result));
    return result;
  }

  @Promise("23.6")
  @Test
  void senderWaitsUntilNewActorHasLoadedSavedState() {
    var sendResult = startAndAwaitParked(() -> bank.ada().sendMessage(new Pay(1)));
    assertFalse(sendResult.isDone());

    saveGate.open();

    assertTrue(Patience.value(sendResult));
    assertEquals(6, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
    assertEquals(List.of(), bank.letters.messages());
  }

  @Test
  void askerWaitsUntilNewActorHasLoadedSavedState() {
    var answer = startAndAwaitParked(() -> bank.ada().ask(new Balance()));
    var answerWithinLimit = startAndAwaitParked(() -> bank.ada().ask(new Balance(), Duration.ofHours(1)));
    var answerOfFuture = startAndAwaitParked(() -> bank.ada().sendMessageReturn(new Balance()).get());

    saveGate.open();

    assertEquals(List.of(5, 5, 5),
        List.of(Patience.value(answer), Patience.value(answerWithinLimit), Patience.value(answerOfFuture)));
  }

  @Promise("23.8")
  @Test
  void askTimeoutDuringPassivationNamesActorThatIsEnding() {
    // repeats, because the time-out names this cause only when the relay, which asks on behalf of
    // the caller, has begun to wait
    Patience.eventually(() -> {
      var failure = bank.awaitTimeout(LIMIT, () -> bank.ada().ask(new Balance(), LIMIT));
      assertEquals(LIMIT, failure.limit());
      return failure.getMessage().contains("'account/ada' (its end)");
    });
  }

  @Test
  void askThatExpiresDuringPassivationIsNotHandled() {
    bank.awaitTimeout(LIMIT, () -> bank.ada().ask(new Balance(), LIMIT));

    saveGate.open();
    Patience.eventually(() -> bank.ada().ask(new Balance()) == 5);
    // gives the relay time in which it could wrongly send the expired request
    for (int i = 0; i < 1_000; i++) Thread.yield();

    assertEquals(1, bank.balanceRequests.get());
  }

  @Test
  void interruptedSendMakesDeadLetterAndKeepsInterruptFlag() {
    Thread.currentThread().interrupt();

    var pay = new Pay(1);

    boolean accepted = bank.ada().sendMessage(pay);

    assertFalse(accepted);
    assertTrue(Thread.interrupted());
    assertEquals(List.of("entity ada"), bank.scope.deadLetters().stream()
        .filter(letter -> letter.message() == pay).map(DeadLetter::actor).toList());
  }

  @Test
  void askInterruptedWhileActorIsSavedIsNotHandled() {
    var interruptFlag = new CompletableFuture<Boolean>();
    var asker = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, () -> bank.ada().ask(new Balance()));
      return Thread.currentThread().isInterrupted();
    }, interruptFlag);
    Patience.awaitParked(asker);
    // gives the relay, which asks on behalf of the asker, time to begin its wait
    for (int i = 0; i < 1_000; i++) Thread.yield();

    asker.interrupt();
    assertTrue(Patience.value(interruptFlag));
    saveGate.open();
    Patience.eventually(() -> bank.ada().ask(new Balance()) == 5);
    for (int i = 0; i < 1_000; i++) Thread.yield();

    assertEquals(1, bank.balanceRequests.get());
  }

  @Test
  void messagesOfWaitingSendersGoToSameNewActor() {
    var sendResults = List.of(startAndAwaitParked(() -> bank.ada().sendMessage(new Pay(1))),
        startAndAwaitParked(() -> bank.ada().sendMessage(new Pay(2))),
        startAndAwaitParked(() -> bank.ada().sendMessage(new Pay(3))));

    saveGate.open();
    sendResults.forEach(Patience::value);

    assertEquals(11, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
  }

  @Test
  void actorThatSendsToItselfInStopHookGetsException() {
    assertStopHookGetsCycleException(self -> self.sendMessage(new Pay(1)));
  }

  @Test
  void actorThatAsksItselfInStopHookGetsException() {
    assertStopHookGetsCycleException(self -> self.ask(new Balance()));
  }

  private void assertStopHookGetsCycleException(Consumer<Actor<Order>> use) {
    var thrown = new CompletableFuture<Throwable>();
    var accounts = new AtomicReference<Entities<String, Order>>();
    accounts.set(bank.openEntities(name -> bank.scope.anonymous().initialState(() -> name)
        .onStop(state -> thrown
            .complete(assertThrows(AskCycleException.class, () -> use.accept(accounts.get().actor(name)))))
        .newActor((state, order) -> {})));
    accounts.get().actor("ada").sendMessage(new Pay(1));

    bank.advanceBeyondIdleTime();

    assertInstanceOf(AskCycleException.class, Patience.value(thrown));
    accounts.get().close();
  }

  @Test
  void messageOfWaitingSenderIsRefusedWhenEntitiesEnd() {
    var sendResult = startAndAwaitParked(() -> bank.ada().sendMessage(new Pay(1)));
    var answer = startAndAwaitParked(() -> bank.ada().ask(new Balance()));
    bank.accounts.sendPoisonPill();

    saveGate.open();

    assertFalse(Patience.value(sendResult));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(answer));
  }

  @Test
  void actorCanBeAwaitedAndKilledWhileItSavesItsState() {
    var exit = bank.ada().onExit();
    assertFalse(bank.ada().waitForExit(Duration.ofMillis(1)));

    bank.ada().kill(); // interrupts `save`

    assertTrue(bank.ada().waitForExit(Patience.LONG));
    assertTrue(exit.isDone());
  }
}
