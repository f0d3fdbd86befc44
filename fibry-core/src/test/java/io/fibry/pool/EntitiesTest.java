package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Gate;
import io.fibry.Patience;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Town.Balance;
import io.fibry.pool.Town.Fail;
import io.fibry.pool.Town.Leave;
import io.fibry.pool.Town.Pay;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Actors by key: when they are born, what keeps them alive, and that one takes over what the one
 * before left.
 */
@Timeout(60)
class EntitiesTest {
  private Town town = new Town(Strategy.FIBER);

  @AfterEach
  void closes() {
    town.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  /**
   * The contract. On CALLER an actor works inside the calls, and saves its state on the thread that
   * finds it idle.
   */
  @ParameterizedTest
  @MethodSource("strategies")
  void onAnyStrategyAnActorIsBornWorksRestsAndComesBack(String strategy) {
    town.close();
    town = new Town(Variants.STRATEGIES.get(strategy));

    town.ada().sendMessage(new Pay(5));
    town.ada().execute(() -> town.events.add("task"));
    town.ada().sendMessages(List.of(new Pay(1), new Pay(2)));
    int before = town.ada().ask(new Balance());
    town.rest(0);
    int after = town.ada().ask(new Balance(), Patience.LONG);
    int future = Patience.value(town.ada().sendMessageReturn(new Balance()));
    town.accounts.close();

    assertEquals(List.of(8, 8, 8), List.of(before, after, future));
    assertEquals(List.of("born ada", "task", "saved ada", "born ada", "saved ada"), town.events);
    assertEquals(List.of(), town.letters.messages());
  }

  @Test
  void nobodyIsBornBeforeHeIsUsed() {
    town.accounts.actor("bob");

    assertEquals(0, town.accounts.size());
    assertEquals(List.of(), town.events);
  }

  @Test
  void eachKeyHasAnActorOfItsOwn() {
    town.ada().sendMessage(new Pay(5));
    town.accounts.actor("bob").sendMessage(new Pay(7));

    assertEquals(List.of(5, 7), List.of(town.ada().ask(new Balance()), town.accounts.actor("bob").ask(new Balance())));
    assertEquals(2, town.accounts.size());
  }

  @Test
  void addressesOfOneKeyAreEqual() {
    assertEquals(town.ada(), town.ada());
    assertNotEquals(town.ada(), town.accounts.actor("bob"));
    assertEquals("entity ada", town.ada().name());
  }

  @Test
  void whoEndedByItselfHasASuccessorAtTheNextUse() {
    town.ada().sendMessages(List.of(new Pay(4), new Leave()));
    Patience.eventually(() -> town.saved.containsKey("ada"));

    assertEquals(4, town.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), town.events);
  }

  @Test
  void whoFailedForGoodHasASuccessorAtTheNextUse() {
    town.ada().sendMessages(List.of(new Pay(4), new Fail()));
    Patience.eventually(() -> town.saved.containsKey("ada"));

    assertEquals(4, town.ada().ask(new Balance()));
  }

  @Test
  void whoEndedByItselfIsForgottenWhenIdle() {
    town.ada().sendMessage(new Leave());

    town.rest(0);
  }

  @Test
  void anyKindOfActorWillDo() {
    var latest = town.others(name -> town.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST))
        .newActor(order -> town.events.add(name + " " + order)));

    latest.actor("ada").sendMessage(new Pay(1));
    latest.close();

    assertEquals(List.of("ada Pay[amount=1]"), town.events);
  }

  @Test
  void whatTheActorRefusesTheAddressRefuses() {
    var gate = new Gate();
    var strict = town.others(
        name -> town.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor(order -> gate.pass()));
    strict.actor("ada").sendMessage(new Pay(1));
    Patience.await(gate.entered);

    boolean second = strict.actor("ada").sendMessage(new Pay(2));
    boolean third = strict.actor("ada").sendMessage(new Pay(3));

    assertEquals(List.of(true, false), List.of(second, third));
    assertEquals(List.of(new Pay(3)), town.letters.messages());
    gate.open();
    strict.close();
  }

  @Test
  void badInputIsRefused() {
    assertEquals("entities that are idle after PT0S would end before their first message; give more than zero",
        assertThrows(IllegalArgumentException.class, () -> Entities.of(Duration.ZERO, town::birth)).getMessage());
    assertEquals("idle", assertThrows(NullPointerException.class, () -> Entities.of(null, town::birth)).getMessage());
    assertEquals("clock",
        assertThrows(NullPointerException.class, () -> Entities.of(Town.IDLE, null, town::birth)).getMessage());
    assertEquals("birth", assertThrows(NullPointerException.class, () -> Entities.of(Town.IDLE, null)).getMessage());
    assertEquals("key", assertThrows(NullPointerException.class, () -> town.accounts.actor(null)).getMessage());
    assertEquals("message", assertThrows(NullPointerException.class, () -> town.ada().sendMessage(null)).getMessage());
    assertEquals("block", assertThrows(NullPointerException.class, () -> town.ada().sendMessages(null)).getMessage());
    assertEquals("request",
        assertThrows(NullPointerException.class, () -> town.ada().ask((Balance) null)).getMessage());
    assertEquals("limit",
        assertThrows(NullPointerException.class, () -> town.ada().ask(new Balance(), null)).getMessage());
    assertEquals("task", assertThrows(NullPointerException.class, () -> town.ada().execute(null)).getMessage());
    assertEquals(List.of(), town.events);
  }

  @Promise("23.5")
  @Test
  void manyThreadsMakeOneActorOfAKey() throws Exception {
    var births = new AtomicInteger();
    var slow = town.others(name -> {
      births.incrementAndGet();
      Thread.yield();
      return town.birth(name);
    });
    var start = new CountDownLatch(1);

    var users = new Thread[16];
    for (int i = 0; i < users.length; i++) users[i] = Patience.elsewhere(() -> {
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
    var others = town.others(name -> town.scope.anonymous().newActor(order -> town.events.add("other " + order)));

    town.ada().sendMessage(new Pay(1));
    others.actor("ada").sendMessage(new Pay(2));
    others.close();

    assertEquals(1, town.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "other Pay[amount=2]"), town.events);
  }
}
