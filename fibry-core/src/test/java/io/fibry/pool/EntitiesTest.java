package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Fail;
import io.fibry.pool.BankFixture.Leave;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Births, lives and successors of actors by key. */
class EntitiesTest {
  private BankFixture bank = new BankFixture(Strategy.FIBER);

  @AfterEach
  void closes() {
    bank.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  /** The contract. On CALLER an actor runs in the calls, and is saved by the sweeper. */
  @ParameterizedTest
  @MethodSource("strategies")
  void onAnyStrategyAnActorIsBornWorksRestsAndComesBack(String strategy) {
    bank.close();
    bank = new BankFixture(Variants.STRATEGIES.get(strategy));

    bank.ada().sendMessage(new Pay(5));
    bank.ada().execute(() -> bank.events.add("task"));
    bank.ada().sendMessages(List.of(new Pay(1), new Pay(2)));
    int before = bank.ada().ask(new Balance());
    bank.idle(0);
    int after = bank.ada().ask(new Balance(), Patience.LONG);
    int future = Patience.value(bank.ada().sendMessageReturn(new Balance()));
    bank.accounts.close();

    assertEquals(List.of(8, 8, 8), List.of(before, after, future));
    assertEquals(List.of("born ada", "task", "saved ada", "born ada", "saved ada"), bank.events);
    assertEquals(List.of(), bank.letters.messages());
  }

  @Test
  void actorIsBornAtFirstUse() {
    bank.accounts.actor("bob");

    assertEquals(0, bank.accounts.size());
    assertEquals(List.of(), bank.events);
  }

  @Test
  void eachKeyHasAnActorOfItsOwn() {
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
  void actorThatEndedItselfHasSuccessorAtNextUse() {
    bank.ada().sendMessages(List.of(new Pay(4), new Leave()));
    Patience.eventually(() -> bank.saved.containsKey("ada"));

    assertEquals(4, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
  }

  @Test
  void actorThatFailedForGoodHasSuccessorAtNextUse() {
    bank.ada().sendMessages(List.of(new Pay(4), new Fail()));
    Patience.eventually(() -> bank.saved.containsKey("ada"));

    assertEquals(4, bank.ada().ask(new Balance()));
  }

  @Test
  void actorThatEndedItselfIsForgottenWhenIdle() {
    bank.ada().sendMessage(new Leave());

    bank.idle(0);
  }

  @Test
  void anyKindOfActorWillDo() {
    var latest = bank.others(name -> bank.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST))
        .newActor(order -> bank.events.add(name + " " + order)));

    latest.actor("ada").sendMessage(new Pay(1));
    latest.close();

    assertEquals(List.of("ada Pay[amount=1]"), bank.events);
  }

  @Test
  void addressRefusesMessageThatActorRefuses() {
    var gate = new Gate();
    var strict = bank.others(
        name -> bank.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor(order -> gate.pass()));
    strict.actor("ada").sendMessage(new Pay(1));
    Patience.await(gate.entered);

    boolean second = strict.actor("ada").sendMessage(new Pay(2));
    boolean third = strict.actor("ada").sendMessage(new Pay(3));

    assertEquals(List.of(true, false), List.of(second, third));
    assertEquals(List.of(new Pay(3)), bank.letters.messages());
    gate.open();
    strict.close();
  }

  @Test
  void badInputIsRefused() {
    var how = bank.scope.anonymous();
    assertEquals("entities that are idle after 0 s would end before their first message; give more than zero",
        assertThrows(IllegalArgumentException.class, () -> Entities.open(how, Duration.ZERO, bank::birth))
            .getMessage());
    assertEquals("idleTime",
        assertThrows(NullPointerException.class, () -> Entities.open(how, null, bank::birth)).getMessage());
    assertEquals("builder",
        assertThrows(NullPointerException.class, () -> Entities.open(null, BankFixture.IDLE, bank::birth))
            .getMessage());
    assertEquals("birth",
        assertThrows(NullPointerException.class, () -> Entities.open(how, BankFixture.IDLE, null)).getMessage());
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
  void manyThreadsMakeOneActorOfAKey() throws Exception {
    var births = new AtomicInteger();
    var slow = bank.others(name -> {
      births.incrementAndGet();
      Thread.yield();
      return bank.bornInTheScope(name);
    });
    var start = new CountDownLatch(1);

    var users = new Thread[16];
    for (int i = 0; i < users.length; i++) users[i] = Patience.startFiber(() -> {
      Patience.await(start);
      slow.actor("ada").sendMessage(new Pay(1));
    });
    start.countDown();
    for (var user : users) user.join();

    assertEquals(16, slow.actor("ada").ask(new Balance()));
    assertEquals(1, births.get());
    slow.close();
  }

  @Test
  void entitiesOfTheirOwnShareNothing() {
    var others = bank.others(name -> bank.scope.anonymous().newActor(order -> bank.events.add("other " + order)));

    bank.ada().sendMessage(new Pay(1));
    others.actor("ada").sendMessage(new Pay(2));
    others.close();

    assertEquals(1, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "other Pay[amount=2]"), bank.events);
  }
}
