package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.AskTimeoutException;
import io.fibry.RequestOutcome;
import io.fibry.Strategy;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Order;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests births that are slow, that fail, or that use other entities. */
class EntitiesCreationTest {
  private final BankFixture bank = new BankFixture(Strategy.FIBER);
  private final Gate gate = new Gate();
  private final AtomicReference<Entities<String, Order>> entities = new AtomicReference<>();

  @AfterEach
  void close() {
    Gate.openAll();
    if (entities.get() != null) entities.get().close();
    bank.close();
  }

  private Entities<String, Order> openWithSlowBirth() {
    entities.set(bank.openEntities(name -> {
      gate.passUninterruptibly();
      return bank.newAccount(name);
    }));
    return entities.get();
  }

  @Test
  void otherCallersWaitForCreationAndGetSameActor() {
    var accounts = openWithSlowBirth();
    var firstSend = Patience.callOnFiber(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);
    var secondSend = Patience.callOnFiber(() -> accounts.actor("ada").sendMessage(new Pay(2)));
    var balance = Patience.callOnFiber(() -> accounts.actor("ada").ask(new Balance()));

    gate.open();

    assertTrue(Patience.value(firstSend) && Patience.value(secondSend));
    assertTrue(List.of(0, 1, 2, 3).contains(Patience.value(balance)));
    assertEquals(3, accounts.actor("ada").ask(new Balance()));
    assertEquals(List.of("born ada"), bank.events);
  }

  @Test
  void entityAnswersWhileOtherEntityIsBeingCreated() {
    entities.set(bank.openEntities(name -> {
      if (name.equals("ada")) gate.passUninterruptibly();
      return bank.newAccount(name);
    }));
    Patience.callOnFiber(() -> entities.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    assertEquals(0, entities.get().actor("bob").ask(new Balance()));
  }

  @Test
  void allWaitersGetCreationExceptionAndNextUseCreatesActor() {
    var failure = new IllegalStateException("planned");
    var tries = new AtomicInteger();
    entities.set(bank.openEntities(name -> {
      if (tries.getAndIncrement() > 0) return bank.newAccount(name);
      gate.passUninterruptibly();
      throw failure;
    }));
    var firstSend = Patience.callOnFiber(() -> entities.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);
    var waiterFailure = new CompletableFuture<Throwable>();
    var waiter = Patience.startFiber(() -> assertThrows(IllegalStateException.class,
        () -> entities.get().actor("ada").sendMessage(new Pay(2))), waiterFailure);
    Patience.awaitParked(waiter);

    gate.open();

    assertSame(failure, Patience.failure(firstSend));
    assertSame(failure, Patience.value(waiterFailure));
    assertEquals(0, entities.get().actor("ada").ask(new Balance()));
  }

  @Test
  void errorOfCreationFunctionIsThrown() {
    entities.set(bank.openEntities(name -> {
      throw new AssertionError("planned");
    }));

    assertThrows(AssertionError.class, () -> entities.get().actor("ada").ask(new Balance()));
    assertThrows(AssertionError.class, () -> entities.get().actor("ada").sendMessageReturn(new Balance()));
    assertEquals(0, entities.get().size());
  }

  @Test
  void creationFunctionThatReturnsNullIsRefused() {
    entities.set(bank.openEntities(name -> null));

    var failure = assertThrows(NullPointerException.class, () -> entities.get().actor("ada").sendMessage(new Pay(1)));

    assertEquals("the birth of entity ada returned null; let it return an actor", failure.getMessage());
  }

  @Test
  void creationFunctionMayUseOtherKeys() {
    entities.set(bank.openEntities(name -> {
      if (name.equals("ada"))
        entities.get().actor("bob").sendMessage(new Pay(entities.get().actor("eve").ask(new Balance()) + 5));
      return bank.newAccount(name);
    }));

    entities.get().actor("ada").sendMessage(new Pay(1));

    assertEquals(5, entities.get().actor("bob").ask(new Balance()));
  }

  @Test
  void creationFunctionThatUsesItsOwnKeyIsRefused() {
    entities.set(bank.openEntities(name -> {
      if (name.equals("ada")) entities.get().actor("bob").sendMessage(new Pay(1));
      else entities.get().actor("ada").ask(new Balance());
      return bank.newAccount(name);
    }));

    var failure = assertThrows(IllegalStateException.class, () -> entities.get().actor("ada").sendMessage(new Pay(1)));

    assertEquals(
        "entity ada cannot be made: the function `birth` uses entity ada, whose birth waits for this thread; only make "
            + "the actor in this function, and use other entities in the handler or in initialState",
        failure.getMessage());
    assertEquals(0, entities.get().size());
  }

  @Test
  void creationsThatWaitForEachOtherAreRefused() {
    var bothBirths = new CountDownLatch(2);
    entities.set(bank.openEntities(name -> {
      bothBirths.countDown();
      Patience.await(bothBirths);
      entities.get().actor(name.equals("ada") ? "bob" : "ada").sendMessage(new Pay(1));
      return bank.newAccount(name);
    }));

    var ada = Patience.callOnFiber(() -> entities.get().actor("ada").sendMessage(new Pay(1)));
    var bob = Patience.callOnFiber(() -> entities.get().actor("bob").sendMessage(new Pay(1)));

    Patience.eventually(() -> ada.isDone() && bob.isDone());
    assertTrue(ada.isCompletedExceptionally() && bob.isCompletedExceptionally());
    assertTrue(Patience.failure(ada).getMessage().contains(", whose birth waits for this thread"));
  }

  @Test
  void interruptedWaitForCreationKeepsInterruptFlag() {
    var accounts = openWithSlowBirth();
    var firstSend = Patience.callOnFiber(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    Thread.currentThread().interrupt();
    boolean accepted = accounts.actor("ada").sendMessage(new Pay(2));

    assertTrue(!accepted && Thread.interrupted());
    Thread.currentThread().interrupt();
    assertThrows(CancellationException.class, () -> accounts.actor("ada").sendMessageReturn(new Balance()));
    assertTrue(Thread.interrupted());
    gate.open();
    assertTrue(Patience.value(firstSend));
    assertEquals(1, accounts.actor("ada").ask(new Balance()));
    bank.clock.advance(BankFixture.IDLE.multipliedBy(2));
    // the interrupted thread must not count as a user of the entity, which would keep it alive
    Patience.eventually(() -> accounts.size() == 0);
  }

  @Test
  void askWaitsForCreationNoLongerThanItsLimit() {
    var accounts = openWithSlowBirth();
    Patience.callOnFiber(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    var limit = Duration.ofMillis(20);

    var timeout = bank.awaitTimeout(limit, () -> accounts.actor("ada").ask(new Balance(), limit));

    assertEquals(limit, timeout.limit());
  }

  @Promise("23.8")
  @Test
  void sendMessageReturnWaitsForCreationNoLongerThanItsLimit() {
    var accounts = openWithSlowBirth();
    Patience.callOnFiber(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    assertLimitCoversWait(accounts.actor("ada"));
  }

  @Promise("23.8")
  @Test
  void sendMessageReturnWaitsForPassivationAtMostItsLimit() {
    bank.saveGate = gate;
    bank.ada().sendMessage(new Pay(1));
    bank.advanceBeyondIdleTime();
    Patience.await(gate.entered);

    assertLimitCoversWait(bank.ada());
  }

  private void assertLimitCoversWait(Actor<Order> address) {
    var limit = Duration.ofMillis(20);
    var answer = Patience.callOnFiber(() -> address.sendMessageReturn(new Balance(), limit));
    Patience.eventually(() -> {
      bank.clock.advance(limit);
      return answer.isDone();
    });

    var timeout = assertInstanceOf(AskTimeoutException.class, Patience.failure(Patience.value(answer)));
    assertEquals(limit, timeout.limit());
    assertEquals(RequestOutcome.NOT_DONE, timeout.outcome());
    assertEquals("actor 'entity ada' was not asked Balance[] within 20 ms, because it was still being made, or"
        + " the previous actor of its key was ending; give a longer limit if that may take longer",
        timeout.getMessage());
  }

  /** The clock of the scope reaches an hour's limit while the request waits. */
  @Test
  void sendMessageReturnMeasuresItsWaitByClockOfScope() {
    bank.saveGate = gate;
    bank.ada().sendMessage(new Pay(1));
    bank.advanceBeyondIdleTime();
    Patience.await(gate.entered);
    var limit = Duration.ofHours(1);

    var answer = Patience.callOnFiber(() -> bank.ada().sendMessageReturn(new Balance(), limit));
    Patience.eventually(() -> {
      bank.clock.advance(limit);
      return answer.isDone();
    });

    assertInstanceOf(AskTimeoutException.class, Patience.failure(Patience.value(answer)));
  }

  @Test
  void requestThatWaitsForCreationIsAnswered() {
    var accounts = openWithSlowBirth();
    Patience.callOnFiber(() -> accounts.actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);
    var answer = new CompletableFuture<CompletableFuture<Integer>>();
    var asker =
        Patience.startFiber(() -> accounts.actor("ada").sendMessageReturn(new Balance(), Patience.LONG), answer);
    Patience.awaitParked(asker);

    gate.open();

    assertTrue(List.of(0, 1).contains(Patience.value(Patience.value(answer))));
  }

  @Test
  void sendReturnsFalseIfCreationFunctionReturnsEndedActor() {
    entities.set(bank.openEntities(name -> {
      Actor<Order> endedActor = bank.newAccount(name);
      endedActor.close();
      return endedActor;
    }));

    assertEquals(false, entities.get().actor("ada").sendMessage(new Pay(1)));
    assertEquals(false, entities.get().actor("ada").sendMessage(new Pay(2)));
    assertEquals(List.of("born ada", "born ada"), bank.events);
  }
}
