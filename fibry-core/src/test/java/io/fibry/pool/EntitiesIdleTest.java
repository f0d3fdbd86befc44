package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Clock;
import io.fibry.Gate;
import io.fibry.Logged;
import io.fibry.Patience;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.pool.Town.Balance;
import io.fibry.pool.Town.Order;
import io.fibry.pool.Town.Pay;
import io.fibry.pool.Town.ReplyLater;
import io.fibry.pool.Town.Stand;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is idle, and when that is found out. */
@Timeout(60)
class EntitiesIdleTest {
  private final Town town = new Town(Strategy.FIBER);

  @AfterEach
  void closes() {
    town.close();
  }

  @Test
  void itEndsNoSoonerThanItWasIdleForSoLongAndNoLaterThanAnEighthMore() {
    town.clock.advance(Duration.ofSeconds(17)); // at no tick
    town.ada().ask(new Balance());

    town.clock.advance(Town.IDLE.minusNanos(1));
    // who looks for the idle is an actor that nobody can wait for
    for (int i = 0; i < 1_000; i++) Thread.yield();
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

    town.restTwice();
    gate.open();
    Patience.joined(asker);
    town.ada().ask(new Balance());

    assertEquals(List.of("born ada"), town.events);
  }

  @Promise("23.8")
  @Test
  void whoHasPromisedAnAnswerIsNotIdle() {
    var value = new CompletableFuture<Integer>();
    var answers =
        List.of(town.ada().sendMessageReturn(new ReplyLater(value)),
            town.ada().sendMessageReturn(new ReplyLater(value)));
    town.ada().ask(new Balance()); // it has promised

    town.restTwice();
    value.complete(7);

    assertEquals(List.of(7, 7), answers.stream().map(Patience::value).toList());
    assertEquals(List.of("born ada"), town.events);
    town.restTwice();
    assertEquals(List.of("born ada", "saved ada"), town.events);
  }

  @Test
  void whoCameBackIsFoundIdleAgain() {
    for (int i = 1; i <= 3; i++) {
      town.ada().sendMessage(new Pay(1));

      town.rest(0);

      assertEquals(i, town.saved.get("ada"));
    }
  }

  /**
   * On CALLER an account is saved by who looks for the idle: so one is born while it looks, and it
   * finds nobody else.
   */
  @Test
  void whoIsBornWhileTheLastOneLeavesIsFoundIdleToo() {
    var all = new AtomicReference<Entities<String, Order>>();
    all.set(
        town.others(name -> town.scope.anonymous().strategy(Strategy.CALLER).initialState(() -> name).onStop(state -> {
          town.events.add("left " + name);
          if (name.equals("ada")) all.get().actor("bob").sendMessage(new Pay(1));
        }).newActor((state, order) -> {})));
    all.get().actor("ada").sendMessage(new Pay(1));
    town.rest();
    Patience.eventually(() -> all.get().size() == 1 && town.events.equals(List.of("left ada")));

    Patience.eventually(() -> {
      town.clock.advance(Town.IDLE);
      return town.events.equals(List.of("left ada", "left bob"));
    });
    all.get().close();
  }

  /**
   * A clock moved by hand may have gone on while a turn was made; the next one must not wait for
   * its next move.
   */
  @Test
  void aClockThatGoesOnWhileItSetsTheTimerLeavesNobodyBehind() {
    var sets = new AtomicInteger();
    var clock = new Clock() {
      @Override
      public Scheduler.Timer after(Duration delay, Runnable task) {
        if (sets.incrementAndGet() == 2) manual.advance(Town.IDLE.multipliedBy(2));
        return super.after(delay, task);
      }
    };
    try (var accounts = Entities.of(Town.IDLE, clock, (String name) -> town.birth(name))) {
      accounts.actor("ada").sendMessage(new Pay(1));

      clock.manual.advance(Town.IDLE.dividedBy(8));

      Patience.eventually(() -> accounts.size() == 0);
    }
  }

  @Test
  void manyAnswersGivenLongAgoKeepNobodyAlive() {
    var value = new CompletableFuture<Integer>();
    var answers = new ArrayList<CompletableFuture<Integer>>();
    for (int i = 0; i < 1_000; i++) answers.add(town.ada().sendMessageReturn(new ReplyLater(value)));
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

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void atMostAThousandLeaveAtOnce(boolean closing) {
    var leaving = new AtomicInteger();
    var gate = new CountDownLatch(1);
    var many = Entities.of(Town.IDLE, town.clock,
        (Integer key) -> town.scope.anonymous().initialState(() -> key).onStop(state -> {
          leaving.incrementAndGet();
          Patience.await(gate);
        }).newActor((Integer state, Pay pay) -> {}));
    for (int key = 0; key < 1_100; key++) many.actor(key).sendMessage(new Pay(key));
    if (closing) many.sendPoisonPill();
    else town.rest();
    Patience.eventually(() -> leaving.get() == 1_000);

    for (int i = 0; i < 1_000; i++) Thread.yield();
    assertEquals(1_000, leaving.get());
    gate.countDown();
    Patience.eventually(() -> many.size() == 0);

    assertEquals(1_100, leaving.get());
    many.close();
  }

  @Test
  void idleForAsLongAsThereIsTime() {
    try (var old = Entities.of(Duration.ofSeconds(Long.MAX_VALUE),
        (String name) -> ActorSystem.anonymous().newActor((Town.Order order) -> {}))) {
      assertTrue(old.actor("ada").sendMessage(new Pay(1)));
    }
  }
}
