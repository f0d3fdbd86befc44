package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.BankFixture.AskExit;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Fail;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the creation, use and succession of the actors of entities. */
class EntitiesTest {
  private BankFixture bank = new BankFixture(Strategy.FIBER);

  @AfterEach
  void close() {
    bank.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  /** On CALLER an actor runs on its callers' threads, and the sweeper saves its state. */
  @ParameterizedTest
  @MethodSource("strategies")
  void actorIsCreatedUsedPassivatedAndReplacedOnAnyStrategy(String strategy) {
    bank.close();
    bank = new BankFixture(Variants.STRATEGIES.get(strategy));

    bank.ada().sendMessage(new Pay(5));
    bank.ada().execute(() -> bank.events.add("task"));
    bank.ada().sendMessages(List.of(new Pay(1), new Pay(2)));
    int firstBalance = bank.ada().ask(new Balance());
    bank.passivateUntil(0);
    int secondBalance = bank.ada().ask(new Balance(), Patience.LONG);
    int balanceOfFuture = Patience.value(bank.ada().sendMessageReturn(new Balance()));
    bank.accounts.close();

    assertEquals(List.of(8, 8, 8), List.of(firstBalance, secondBalance, balanceOfFuture));
    assertEquals(List.of("born ada", "task", "saved ada", "born ada", "saved ada"), bank.events);
    assertEquals(List.of(), bank.letters.messages());
  }

  @Test
  void actorIsCreatedAtFirstUse() {
    bank.accounts.actor("bob");

    assertEquals(0, bank.accounts.size());
    assertEquals(List.of(), bank.events);
  }

  @Test
  void eachKeyHasItsOwnActor() {
    bank.ada().sendMessage(new Pay(5));
    bank.accounts.actor("bob").sendMessage(new Pay(7));

    assertEquals(List.of(5, 7), List.of(bank.ada().ask(new Balance()), bank.accounts.actor("bob").ask(new Balance())));
    assertEquals(2, bank.accounts.size());
  }

  @Test
  void addressesOfOneKeyAreEqual() {
    assertEquals(bank.ada(), bank.ada());
    assertNotEquals(bank.ada(), bank.accounts.actor("bob"));
    assertEquals("entity ada", bank.ada().name());
  }

  @Test
  void nextUseCreatesNewActorAfterActorEndedItself() {
    bank.ada().sendMessages(List.of(new Pay(4), new AskExit()));
    Patience.eventually(() -> bank.savedBalances.containsKey("ada"));

    assertEquals(4, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
  }

  @Test
  void nextUseCreatesNewActorAfterFailureStoppedActor() {
    bank.ada().sendMessages(List.of(new Pay(4), new Fail()));
    Patience.eventually(() -> bank.savedBalances.containsKey("ada"));

    assertEquals(4, bank.ada().ask(new Balance()));
  }

  @Test
  void actorThatEndedItselfIsForgottenWhenIdle() {
    bank.ada().sendMessage(new AskExit());

    bank.passivateUntil(0);
  }

  @Test
  void creationFunctionMayReturnActorOfOtherBuilder() {
    var entities = bank.openEntities(name -> bank.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST))
        .newActor(order -> bank.events.add(name + " " + order)));

    entities.actor("ada").sendMessage(new Pay(1));
    entities.close();

    assertEquals(List.of("ada Pay[amount=1]"), bank.events);
  }

  @Test
  void addressRefusesMessageThatActorRefuses() {
    var gate = new Gate();
    var entities = bank.openEntities(
        name -> bank.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor(order -> gate.pass()));
    entities.actor("ada").sendMessage(new Pay(1));
    Patience.await(gate.entered);

    boolean secondAccepted = entities.actor("ada").sendMessage(new Pay(2));
    boolean thirdAccepted = entities.actor("ada").sendMessage(new Pay(3));

    assertEquals(List.of(true, false), List.of(secondAccepted, thirdAccepted));
    assertEquals(List.of(new Pay(3)), bank.letters.messages());
    gate.open();
    entities.close();
  }

  @Test
  void zeroIdleTimeAndNullArgumentsAreRefused() {
    var builder = bank.scope.anonymous();
    assertEquals("entities that are idle after 0 s would end before their first message; give more than zero",
        assertThrows(IllegalArgumentException.class, () -> Entities.open(builder, Duration.ZERO, bank::birth))
            .getMessage());
    assertEquals("idleTime",
        assertThrows(NullPointerException.class, () -> Entities.open(builder, null, bank::birth)).getMessage());
    assertEquals("builder",
        assertThrows(NullPointerException.class, () -> Entities.open(null, BankFixture.IDLE, bank::birth))
            .getMessage());
    assertEquals("birth",
        assertThrows(NullPointerException.class, () -> Entities.open(builder, BankFixture.IDLE, null)).getMessage());
    assertEquals("key", assertThrows(NullPointerException.class, () -> bank.accounts.actor(null)).getMessage());
    assertEquals("message", assertThrows(NullPointerException.class, () -> bank.ada().sendMessage(null)).getMessage());
    assertEquals("block", assertThrows(NullPointerException.class, () -> bank.ada().sendMessages(null)).getMessage());
    assertEquals("request",
        assertThrows(NullPointerException.class, () -> bank.ada().ask((Balance) null)).getMessage());
    assertEquals("limit",
        assertThrows(NullPointerException.class, () -> bank.ada().ask(new Balance(), null)).getMessage());
    assertEquals("task", assertThrows(NullPointerException.class, () -> bank.ada().execute(null)).getMessage());
    assertEquals(List.of(), bank.events);
  }

  @Promise("23.5")
  @Test
  void concurrentThreadsCreateOneActorForAKey() throws Exception {
    var births = new AtomicInteger();
    var slowEntities = bank.openEntities(name -> {
      births.incrementAndGet();
      Thread.yield();
      return bank.newAccount(name);
    });
    var start = new CountDownLatch(1);

    var users = new Thread[16];
    for (int i = 0; i < users.length; i++) users[i] = Patience.startFiber(() -> {
      Patience.await(start);
      slowEntities.actor("ada").sendMessage(new Pay(1));
    });
    start.countDown();
    for (var user : users) Patience.awaitEnd(user);

    assertEquals(16, slowEntities.actor("ada").ask(new Balance()));
    assertEquals(1, births.get());
    slowEntities.close();
  }

  @Test
  void separateEntitiesShareNoActorForEqualKey() {
    var otherEntities =
        bank.openEntities(name -> bank.scope.anonymous().newActor(order -> bank.events.add("other " + order)));

    bank.ada().sendMessage(new Pay(1));
    otherEntities.actor("ada").sendMessage(new Pay(2));
    otherEntities.close();

    assertEquals(1, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "other Pay[amount=2]"), bank.events);
  }
}
