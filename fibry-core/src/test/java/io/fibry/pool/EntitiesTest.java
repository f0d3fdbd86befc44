package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Clock;
import io.fibry.Gate;
import io.fibry.Logged;
import io.fibry.Patience;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Town.Balance;
import io.fibry.pool.Town.Fail;
import io.fibry.pool.Town.Leave;
import io.fibry.pool.Town.Pay;
import io.fibry.pool.Town.Promise;
import io.fibry.pool.Town.Stand;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Actors by key: when they are born, what keeps them alive, and that one takes over what the one before left. */
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

  /** The contract. On CALLER an actor works inside the calls, and saves its state on the thread that finds it idle. */
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
  void itEndsNoSoonerThanItWasIdleForSoLongAndNoLaterThanAnEighthMore() {
    town.clock.advance(Duration.ofSeconds(17)); // at no tick
    town.ada().ask(new Balance());

    town.clock.advance(Town.IDLE.minusNanos(1));
    for (int i = 0; i < 1_000; i++) Thread.yield(); // who looks for the idle is an actor that nobody can wait for
    assertEquals(1, town.accounts.size());
    town.clock.advance(Town.IDLE.dividedBy(8).plusNanos(1));

    Patience.eventually(() -> town.accounts.size() == 0);
  }

  @Test
  void anyUseKeepsItAlive() {
    for (int i = 0; i < 20; i++) {
      town.ada().sendMessage(new Pay(1));
      town.clock.advance(Town.IDLE.dividedBy(2));
    }

    assertEquals(20, town.ada().ask(new Balance()));
    assertEquals(List.of("born ada"), town.events);
  }

  @Test
  void whoIsIdleEndsWhileOthersAreUsed() {
    town.ada().sendMessage(new Pay(1));
    for (int i = 0; i < 20; i++) {
      town.accounts.actor("bob").ask(new Balance());
      town.clock.advance(Town.IDLE.dividedBy(2));
    }

    Patience.eventually(() -> town.events.contains("saved ada"));
    assertFalse(town.events.contains("saved bob"));
  }

  @Test
  void whoIsAskedIsNotIdle() {
    var gate = new Gate();
    town.ada().sendMessage(new Stand(gate));
    var asker = Patience.elsewhere(() -> town.ada().ask(new Balance(), Duration.ofDays(1)));
    Patience.await(gate.entered);
    Patience.parked(asker);

    town.rest();
    town.rest();
    gate.open();
    Patience.joined(asker);
    town.ada().ask(new Balance());

    assertEquals(List.of("born ada"), town.events);
  }

  @Test
  void whoHasPromisedAnAnswerIsNotIdle() {
    var value = new CompletableFuture<Integer>();
    var answers = List.of(town.ada().sendMessageReturn(new Promise(value)), town.ada().sendMessageReturn(new Promise(value)));
    town.ada().ask(new Balance()); // it has promised

    town.rest();
    town.rest();
    value.complete(7);

    assertEquals(List.of(7, 7), answers.stream().map(Patience::value).toList());
    town.rest();
    town.rest(0);
  }

  @Test
  void manyAnswersGivenLongAgoKeepNobodyAlive() {
    var value = new CompletableFuture<Integer>();
    var answers = new ArrayList<CompletableFuture<Integer>>();
    for (int i = 0; i < 1_000; i++) answers.add(town.ada().sendMessageReturn(new Promise(value)));
    value.complete(7);
    answers.forEach(Patience::value);

    town.rest(0);
  }

  @Test
  void whatWaitsWhenItIsFoundIdleIsHandled() {
    var gate = new Gate();
    town.ada().sendMessages(List.of(new Stand(gate), new Pay(3)));
    Patience.await(gate.entered);

    town.rest();
    gate.open();
    Patience.eventually(() -> town.accounts.size() == 0);

    assertEquals(3, town.saved.get("ada"));
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
    var latest = town.others(name -> town.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST)).newActor(order -> town.events.add(name + " " + order)));

    latest.actor("ada").sendMessage(new Pay(1));
    latest.close();

    assertEquals(List.of("ada Pay[amount=1]"), town.events);
  }

  @Test
  void whatTheActorRefusesTheAddressRefuses() {
    var gate = new Gate();
    var strict = town.others(name -> town.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor(order -> gate.pass()));
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
  void byTheSystemsClockItWorksToo() {
    var quick = Entities.of(Duration.ofMillis(10), (String name) -> town.birth(name));

    quick.actor("ada").sendMessage(new Pay(1));
    Patience.eventually(() -> quick.size() == 0);

    assertEquals(1, quick.actor("ada").ask(new Balance()));
    quick.close();
  }

  @Test
  void aClockThatCannotSetATimerLeavesThemAlive() {
    var broken = new AtomicInteger(1);
    var clock = new Clock() {
      @Override
      public Scheduler.Timer after(Duration delay, Runnable task) {
        if (broken.getAndDecrement() > 0) throw new IllegalStateException("planned");
        return super.after(delay, task);
      }
    };
    try (var logged = new Logged(); var accounts = Entities.of(Town.IDLE, clock, (String name) -> town.birth(name))) {
      accounts.actor("ada").sendMessage(new Pay(1));
      accounts.actor("bob").sendMessage(new Pay(1));
      clock.manual.advance(Town.IDLE.multipliedBy(2));

      Patience.eventually(() -> accounts.size() == 0);
      assertTrue(logged.text().contains("could not set the timer that finds the idle"), logged.text());
    }
  }

  @Test
  void badInputIsRefused() {
    assertEquals("entities that are idle after PT0S would end before their first message; give more than zero", assertThrows(IllegalArgumentException.class, () -> Entities.of(Duration.ZERO, town::birth)).getMessage());
    assertEquals("idle", assertThrows(NullPointerException.class, () -> Entities.of(null, town::birth)).getMessage());
    assertEquals("clock", assertThrows(NullPointerException.class, () -> Entities.of(Town.IDLE, null, town::birth)).getMessage());
    assertEquals("birth", assertThrows(NullPointerException.class, () -> Entities.of(Town.IDLE, null)).getMessage());
    assertEquals("key", assertThrows(NullPointerException.class, () -> town.accounts.actor(null)).getMessage());
    assertEquals("message", assertThrows(NullPointerException.class, () -> town.ada().sendMessage(null)).getMessage());
    assertEquals("block", assertThrows(NullPointerException.class, () -> town.ada().sendMessages(null)).getMessage());
    assertEquals("request", assertThrows(NullPointerException.class, () -> town.ada().ask((Balance) null)).getMessage());
    assertEquals("limit", assertThrows(NullPointerException.class, () -> town.ada().ask(new Balance(), null)).getMessage());
    assertEquals("task", assertThrows(NullPointerException.class, () -> town.ada().execute(null)).getMessage());
    assertEquals(List.of(), town.events);
  }

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
  void atMostAThousandLeaveAtOnce() {
    var leaving = new AtomicInteger();
    var gate = new CountDownLatch(1);
    var many = Entities.of(Town.IDLE, town.clock, (Integer key) -> town.scope.anonymous().initialState(() -> key).onStop(state -> {
      leaving.incrementAndGet();
      Patience.await(gate);
    }).newActor((Integer state, Pay pay) -> {}));
    for (int key = 0; key < 1_100; key++) many.actor(key).sendMessage(new Pay(key));
    town.rest();
    Patience.eventually(() -> leaving.get() == 1_000);

    for (int i = 0; i < 1_000; i++) Thread.yield();
    assertEquals(1_000, leaving.get());
    gate.countDown();
    Patience.eventually(() -> many.size() == 0);

    assertEquals(1_100, leaving.get());
    many.close();
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

  @Test
  void idleForAsLongAsThereIsTime() {
    try (var old = Entities.of(Duration.ofSeconds(Long.MAX_VALUE), (String name) -> ActorSystem.anonymous().newActor((Town.Order order) -> {}))) {
      assertTrue(old.actor("ada").sendMessage(new Pay(1)));
    }
  }
}
