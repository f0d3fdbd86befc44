package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.Gate;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Births that are slow, fail, or need each other. */
class EntitiesCreationTest {
  private final BankFixture bank = new BankFixture(Strategy.FIBER);
  private final Gate gate = new Gate();
  private final AtomicReference<Entities<String, Order>> all = new AtomicReference<>();

  @AfterEach
  void closes() {
    Gate.openAll();
    if (all.get() != null) all.get().close();
    bank.close();
  }

  private Entities<String, Order> slow() {
    all.set(bank.others(name -> {
      gate.passDeaf();
      return bank.bornInTheScope(name);
    }));
    return all.get();
  }

  private static <T> CompletableFuture<T> elsewhere(Callable<T> code) {
    var result = new CompletableFuture<T>();
    Patience.startFiber(code, result);
    return result;
  }

  @Test
  void otherCallersWaitForBirthAndGetSameActor() {
    var accounts = slow();
    var first = elsewhere(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);
    var second = elsewhere(() -> accounts.actor("ada").sendMessage(new Pay(2)));
    var asking = elsewhere(() -> accounts.actor("ada").ask(new Balance()));

    gate.open();

    assertTrue(Patience.value(first) && Patience.value(second));
    assertTrue(List.of(0, 1, 2, 3).contains(Patience.value(asking)));
    assertEquals(3, accounts.actor("ada").ask(new Balance()));
    assertEquals(List.of("born ada"), bank.events);
  }

  @Test
  void aBirthHoldsUpNoOtherKey() {
    all.set(bank.others(name -> {
      if (name.equals("ada")) gate.passDeaf();
      return bank.bornInTheScope(name);
    }));
    elsewhere(() -> all.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    assertEquals(0, all.get().actor("bob").ask(new Balance()));
  }

  @Test
  void failedBirthIsThrownToAllWaitersAndRetriedByNextUse() {
    var planned = new IllegalStateException("planned");
    var tries = new AtomicInteger();
    all.set(bank.others(name -> {
      if (tries.getAndIncrement() > 0) return bank.bornInTheScope(name);
      gate.passDeaf();
      throw planned;
    }));
    var first = elsewhere(() -> all.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);
    var waiter = new CompletableFuture<Throwable>();
    var thread = Patience.startFiber(() -> waiter
        .complete(assertThrows(IllegalStateException.class, () -> all.get().actor("ada").sendMessage(new Pay(2)))));
    Patience.parked(thread);

    gate.open();

    assertSame(planned, Patience.failure(first));
    assertSame(planned, Patience.value(waiter));
    assertEquals(0, all.get().actor("ada").ask(new Balance()));
  }

  @Test
  void anErrorIsThrownToo() {
    all.set(bank.others(name -> {
      throw new AssertionError("planned");
    }));

    assertThrows(AssertionError.class, () -> all.get().actor("ada").ask(new Balance()));
    assertThrows(AssertionError.class, () -> all.get().actor("ada").sendMessageReturn(new Balance()));
    assertEquals(0, all.get().size());
  }

  @Test
  void aBirthThatGivesNullSaysSo() {
    all.set(bank.others(name -> null));

    var failure = assertThrows(NullPointerException.class, () -> all.get().actor("ada").sendMessage(new Pay(1)));

    assertEquals("the birth of entity ada returned null; let it return an actor", failure.getMessage());
  }

  @Test
  void aBirthMayUseOtherKeys() {
    all.set(bank.others(name -> {
      if (name.equals("ada"))
        all.get().actor("bob").sendMessage(new Pay(all.get().actor("eve").ask(new Balance()) + 5));
      return bank.bornInTheScope(name);
    }));

    all.get().actor("ada").sendMessage(new Pay(1));

    assertEquals(5, all.get().actor("bob").ask(new Balance()));
  }

  @Test
  void aBirthThatUsesItsOwnKeyIsTold() {
    all.set(bank.others(name -> {
      if (name.equals("ada")) all.get().actor("bob").sendMessage(new Pay(1));
      else all.get().actor("ada").ask(new Balance());
      return bank.bornInTheScope(name);
    }));

    var failure = assertThrows(IllegalStateException.class, () -> all.get().actor("ada").sendMessage(new Pay(1)));

    assertEquals(
        "the birth of entity ada uses entity ada, which waits for it to be born: let birth only make the actor, "
            + "and use other entities from its handler or initialState",
        failure.getMessage());
    assertEquals(0, all.get().size());
  }

  @Test
  void birthsOnTwoThreadsThatWaitForOneAnotherAreTold() {
    var both = new CountDownLatch(2);
    all.set(bank.others(name -> {
      both.countDown();
      Patience.await(both);
      all.get().actor(name.equals("ada") ? "bob" : "ada").sendMessage(new Pay(1));
      return bank.bornInTheScope(name);
    }));

    var ada = elsewhere(() -> all.get().actor("ada").sendMessage(new Pay(1)));
    var bob = elsewhere(() -> all.get().actor("bob").sendMessage(new Pay(1)));

    Patience.eventually(() -> ada.isDone() && bob.isDone());
    assertTrue(ada.isCompletedExceptionally() && bob.isCompletedExceptionally());
    assertTrue(Patience.failure(ada).getMessage().contains("which waits for it to be born"));
  }

  @Test
  void interruptedWaitForBirthSendsDeadLetterAndKeepsFlag() {
    var accounts = slow();
    var first = elsewhere(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    Thread.currentThread().interrupt();
    boolean taken = accounts.actor("ada").sendMessage(new Pay(2));

    assertTrue(!taken && Thread.interrupted());
    Thread.currentThread().interrupt();
    assertThrows(CancellationException.class, () -> accounts.actor("ada").sendMessageReturn(new Balance()));
    assertTrue(Thread.interrupted());
    gate.open();
    assertTrue(Patience.value(first));
    assertEquals(1, accounts.actor("ada").ask(new Balance()));
    bank.clock.advance(BankFixture.IDLE.multipliedBy(2));
    Patience.eventually(() -> accounts.size() == 0); // the interrupted thread is not inside
  }

  @Test
  void askWaitsForBirthNoLongerThanItsLimit() {
    var accounts = slow();
    elsewhere(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    var limit = Duration.ofMillis(20);

    var late = bank.late(limit, () -> accounts.actor("ada").ask(new Balance(), limit));

    assertEquals(limit, late.waited());
  }

  @Test
  void anActorThatHasEndedWhenItIsBornIsUsedOnce() {
    all.set(bank.others(name -> {
      Actor<Order> dead = bank.bornInTheScope(name);
      dead.close();
      return dead;
    }));

    assertEquals(false, all.get().actor("ada").sendMessage(new Pay(1)));
    assertEquals(false, all.get().actor("ada").sendMessage(new Pay(2)));
    assertEquals(List.of("born ada", "born ada"), bank.events);
  }
}
