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
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Order;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.support.Patience;
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

/** Between the pill of one life and the birth of the next, while the account is saved. */
class EntitiesRestartTest {
  private static final Duration LIMIT = Duration.ofSeconds(1); // on the clock of the bank

  private final BankFixture bank = new BankFixture(Strategy.FIBER);
  private final Gate leaving = new Gate();

  @AfterEach
  void closes() {
    leaving.open();
    bank.close();
  }

  @BeforeEach
  void anAccountIsBeingSaved() {
    bank.leaving = leaving;
    bank.ada().sendMessage(new Pay(5));
    bank.idle();
    Patience.await(leaving.entered);
    bank.leaving = null;
  }

  private static <T> CompletableFuture<T> waiting(Callable<T> code) {
    var result = new CompletableFuture<T>();
    Patience.parked(Patience.startFiber(code, result));
    return result;
  }

  @Promise("23.6")
  @Test
  void senderWaitsAndSuccessorHasSavedState() {
    var sent = waiting(() -> bank.ada().sendMessage(new Pay(1)));
    assertFalse(sent.isDone());

    leaving.open();

    assertTrue(Patience.value(sent));
    assertEquals(6, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
    assertEquals(List.of(), bank.letters.messages());
  }

  @Test
  void askerWaitsForSuccessor() {
    var asked = waiting(() -> bank.ada().ask(new Balance()));
    var limited = waiting(() -> bank.ada().ask(new Balance(), Duration.ofHours(1)));
    var future = waiting(() -> bank.ada().sendMessageReturn(new Balance()).get());

    leaving.open();

    assertEquals(List.of(5, 5, 5), List.of(Patience.value(asked), Patience.value(limited), Patience.value(future)));
  }

  @Promise("23.8")
  @Test
  void theLimitOfAnAskHoldsForTheWaitAndSaysWhatItWaitsFor() {
    Patience.eventually(() -> { // before its relay has a thread, it waits for that
      var failure = bank.late(LIMIT, () -> bank.ada().ask(new Balance(), LIMIT));
      assertEquals(LIMIT, failure.waited());
      return failure.getMessage().contains("'account/ada' (its end)");
    });
  }

  @Test
  void expiredAskIsNotHandled() {
    bank.late(LIMIT, () -> bank.ada().ask(new Balance(), LIMIT));

    leaving.open();
    Patience.eventually(() -> bank.ada().ask(new Balance()) == 5);
    for (int i = 0; i < 1_000; i++) Thread.yield(); // the relay would ask now

    assertEquals(1, bank.asked.get());
  }

  @Test
  void interruptedSenderMakesDeadLetterAndKeepsFlag() {
    Thread.currentThread().interrupt();

    var pay = new Pay(1);

    boolean taken = bank.ada().sendMessage(pay);

    assertFalse(taken);
    assertTrue(Thread.interrupted());
    assertEquals(List.of("entity ada"), bank.scope.deadLetters().stream()
        .filter(letter -> letter.message() == pay).map(DeadLetter::actor).toList());
  }

  @Test
  void interruptedAskIsCancelledAndNotHandled() {
    var told = new CompletableFuture<Boolean>();
    var asker = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, () -> bank.ada().ask(new Balance()));
      told.complete(Thread.currentThread().isInterrupted());
    });
    Patience.parked(asker);
    for (int i = 0; i < 1_000; i++) Thread.yield(); // until the relay waits

    asker.interrupt();
    assertTrue(Patience.value(told));
    leaving.open();
    Patience.eventually(() -> bank.ada().ask(new Balance()) == 5);
    for (int i = 0; i < 1_000; i++) Thread.yield();

    assertEquals(1, bank.asked.get());
  }

  @Test
  void waitingSendersShareSingleSuccessor() {
    var sent = List.of(waiting(() -> bank.ada().sendMessage(new Pay(1))),
        waiting(() -> bank.ada().sendMessage(new Pay(2))), waiting(() -> bank.ada().sendMessage(new Pay(3))));

    leaving.open();
    sent.forEach(Patience::value);

    assertEquals(11, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
  }

  @Test
  void actorThatSendsToItselfInStopHookIsTold() {
    assertToldInItsStopHook(self -> self.sendMessage(new Pay(1)));
  }

  @Test
  void actorThatAsksItselfInStopHookIsTold() {
    assertToldInItsStopHook(self -> self.ask(new Balance()));
  }

  private void assertToldInItsStopHook(Consumer<Actor<Order>> use) {
    var thrown = new CompletableFuture<Throwable>();
    var accounts = new AtomicReference<Entities<String, Order>>();
    accounts.set(bank.others(name -> bank.scope.anonymous().initialState(() -> name)
        .onStop(state -> thrown
            .complete(assertThrows(AskCycleException.class, () -> use.accept(accounts.get().actor(name)))))
        .newActor((state, order) -> {})));
    accounts.get().actor("ada").sendMessage(new Pay(1));

    bank.idle();

    assertInstanceOf(AskCycleException.class, Patience.value(thrown));
    accounts.get().close();
  }

  @Test
  void waitingSenderIsRefusedWhenAllEntitiesEnd() {
    var sent = waiting(() -> bank.ada().sendMessage(new Pay(1)));
    var asked = waiting(() -> bank.ada().ask(new Balance()));
    bank.accounts.sendPoisonPill();

    leaving.open();

    assertFalse(Patience.value(sent));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(asked));
  }

  @Test
  void actorBeingSavedCanBeAwaitedAndKilled() {
    var ended = bank.ada().onExit();
    assertFalse(bank.ada().waitForExit(Duration.ofMillis(1)));

    bank.ada().kill(); // interrupts `save`

    assertTrue(bank.ada().waitForExit(Patience.LONG));
    assertTrue(ended.isDone());
  }
}
