package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.block.Throwables;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Order;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.pool.BankFixture.ReplyLater;
import io.fibry.pool.BankFixture.WaitAtGate;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which actors count as idle, and when idle actors end. */
class EntitiesIdleTest {
  private final BankFixture bank = new BankFixture(Strategy.FIBER);

  @AfterEach
  void close() {
    bank.close();
  }

  private void assertNoneEnds() {
    // if the sweeper passivated an actor too early, it would do so now; no event shows that it has
    // not done so
    for (int i = 0; i < 100; i++) Thread.yield();
    assertEquals(List.of(), bank.events.stream().filter(event -> event.startsWith("saved")).toList());
  }

  @Promise("23.13")
  @Test
  void idleActorEndsExactlyAfterIdleTime() {
    bank.clock.advance(Duration.ofMillis(17_003)); // no multiple of an eighth of the idle time
    bank.ada().ask(new Balance());

    bank.clock.advance(BankFixture.IDLE.minusNanos(1));
    assertNoneEnds();
    bank.clock.advance(Duration.ofNanos(1));

    Patience.eventually(() -> bank.accounts.size() == 0);
  }

  @Promise("23.13")
  @Test
  void eachOfManyIdleActorsEndsExactlyAfterIdleTime() {
    for (int i = 0; i < 20; i++) {
      bank.accounts.actor("user" + i).ask(new Balance());
      bank.clock.advance(Duration.ofMillis(7_919)); // so that some actors end in one step, others in the next
    }
    bank.clock.advance(BankFixture.IDLE.minusMillis(20 * 7_919 + 1));
    assertNoneEnds();
    bank.clock.advance(Duration.ofMillis(1));

    for (int i = 0; i < 20; i++) {
      int remaining = 19 - i;
      Patience.eventually(() -> bank.accounts.size() == remaining);
      assertEquals("saved user" + i, bank.events.getLast());
      bank.clock.advance(Duration.ofMillis(7_919));
    }
  }

  @Promise("23.13")
  @Test
  void actorUsedJustBeforeIdleTimeEndsExactlyAfterIt() {
    for (int i = 0; i < 3; i++) {
      bank.ada().ask(new Balance());
      bank.clock.advance(BankFixture.IDLE.minusMillis(1));
    }
    assertNoneEnds();

    bank.clock.advance(Duration.ofMillis(1));

    Patience.eventually(() -> bank.accounts.size() == 0);
  }

  /** The idle time has eight steps; the actors are used in each of them. */
  @Test
  void actorsInUseNeedOneTimerPerStep() {
    var timerCount = new AtomicInteger();
    var clock = new Clock() {
      @Override
      public Scheduler.Timer scheduleAt(long time, Runnable task) {
        timerCount.incrementAndGet();
        return manual.scheduleAt(time, task);
      }
    };
    try (var scope = ActorSystem.openScope("other clock", o -> o.withScheduler(clock));
        var accounts = bank.accountsIn(scope)) {
      var millis = Duration.ofMillis(1);
      for (int step = 0; step < 40; step++) {
        for (int i = 0; i < 50; i++, clock.manual.advance(millis))
          assertTrue(accounts.actor("user" + i).sendMessage(new Pay(1)));
        clock.manual.advance(BankFixture.IDLE.dividedBy(8).minus(millis.multipliedBy(50)));
      }
      assertEquals(50, accounts.size());
      assertTrue(timerCount.get() <= 41, timerCount::toString);
    }
  }

  @Promise("23.13")
  @Test
  void actorEndsAtMostEighthOfIdleTimeAfterLateAnswer() {
    var value = new CompletableFuture<Integer>();
    var answer = bank.ada().sendMessageReturn(new ReplyLater(value));
    bank.ada().ask(new Balance()); // when this answer arrives, the other answer has been promised
    bank.clock.advance(BankFixture.IDLE.multipliedBy(3));
    assertNoneEnds();
    value.complete(7);
    assertEquals(7, Patience.value(answer));
    bank.accounts.actor("bob").ask(new Balance());

    bank.clock.advance(BankFixture.IDLE.dividedBy(8));

    Patience.eventually(() -> bank.accounts.size() == 1 && bank.events.contains("saved ada"));
  }

  @Test
  void sendWithinIdleTimeKeepsActorAlive() {
    for (int i = 0; i < 20; i++) {
      bank.ada().sendMessage(new Pay(1));
      bank.clock.advance(BankFixture.IDLE.dividedBy(2));
    }

    assertEquals(20, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada"), bank.events);
  }

  @Test
  void idleActorIsPassivatedWhileOtherActorIsUsed() {
    bank.ada().sendMessage(new Pay(1));
    for (int i = 0; i < 20; i++) {
      bank.accounts.actor("bob").ask(new Balance());
      bank.clock.advance(BankFixture.IDLE.dividedBy(2));
    }

    Patience.eventually(() -> bank.events.contains("saved ada"));
    assertFalse(bank.events.contains("saved bob"));
  }

  @Test
  void actorWithPendingRequestIsNotIdle() {
    var gate = new Gate();
    bank.ada().sendMessage(new WaitAtGate(gate));
    var asker = Patience.startFiber(() -> bank.ada().ask(new Balance(), Duration.ofDays(1)));
    Patience.await(gate.entered);
    Patience.awaitParked(asker);

    bank.sweepTwice();
    gate.open();
    Patience.awaitEnd(asker);
    bank.ada().ask(new Balance());

    assertEquals(List.of("born ada"), bank.events);
  }

  @Promise("23.8")
  @Test
  void actorWithPromisedAnswerIsNotIdle() {
    var value = new CompletableFuture<Integer>();
    var answers =
        List.of(bank.ada().sendMessageReturn(new ReplyLater(value)),
            bank.ada().sendMessageReturn(new ReplyLater(value)));
    bank.ada().ask(new Balance()); // when this answer arrives, both answers have been promised

    bank.sweepTwice();
    value.complete(7);

    assertEquals(List.of(7, 7), answers.stream().map(Patience::value).toList());
    assertEquals(List.of("born ada"), bank.events);
    bank.sweepTwice();
    assertEquals(List.of("born ada", "saved ada"), bank.events);
  }

  @Test
  void actorIsPassivatedAgainAfterItsRecreation() {
    for (int i = 1; i <= 3; i++) {
      bank.ada().sendMessage(new Pay(1));

      bank.passivateUntil(0);

      assertEquals(i, bank.savedBalances.get("ada"));
    }
  }

  /** On CALLER the sweeper runs the stop hook of ada, so bob is created while ada ends. */
  @Promise("23.13")
  @Test
  void actorCreatedByLastEndingActorEndsExactlyAfterIdleTime() {
    var gate = new Gate(); // keeps ada ending until the clock has reached its time, so that bob is created then
    var entities = new AtomicReference<Entities<String, Order>>();
    entities.set(
        bank.openEntities(name -> bank.scope.anonymous().strategy(Strategy.CALLER).initialState(() -> name)
            .onStop(state -> {
              if (name.equals("ada")) {
                gate.pass();
                entities.get().actor("bob").sendMessage(new Pay(1));
              }
              bank.events.add("left " + name);
            }).newActor((state, order) -> {})));
    entities.get().actor("ada").sendMessage(new Pay(1));
    bank.advanceBeyondIdleTime();
    Patience.await(gate.entered);
    gate.open();
    Patience.eventually(() -> bank.events.equals(List.of("left ada")) && entities.get().size() == 1);

    bank.clock.advance(BankFixture.IDLE.minusNanos(1));
    for (int i = 0; i < 100; i++) Thread.yield(); // no event shows that the sweeper does not passivate bob too early
    assertEquals(List.of("left ada"), bank.events);
    bank.clock.advance(Duration.ofNanos(1));

    Patience.eventually(() -> bank.events.equals(List.of("left ada", "left bob")));
    entities.get().close();
  }

  @Test
  void idleActorEndsIfClockAdvancesWhileTimerIsSet() {
    var timerCount = new AtomicInteger();
    var clock = new Clock() {
      @Override
      public Scheduler.Timer schedule(Duration delay, Runnable task) {
        if (timerCount.incrementAndGet() == 2) manual.advance(BankFixture.IDLE.multipliedBy(2));
        return super.schedule(delay, task);
      }
    };
    try (var scope = ActorSystem.openScope("other clock", o -> o.withScheduler(clock));
        var accounts = bank.accountsIn(scope)) {
      accounts.actor("ada").sendMessage(new Pay(1));
      clock.manual.advance(BankFixture.IDLE.dividedBy(2));
      accounts.actor("ada").sendMessage(new Pay(1));

      clock.manual.advance(BankFixture.IDLE.dividedBy(2)); // the first timer fires, and the second is set

      Patience.eventually(() -> accounts.size() == 0);
    }
  }

  @Test
  void completedPromisedAnswersDoNotKeepActorAlive() {
    var value = new CompletableFuture<Integer>();
    var answers = new ArrayList<CompletableFuture<Integer>>();
    for (int i = 0; i < 1_000; i++) answers.add(bank.ada().sendMessageReturn(new ReplyLater(value)));
    value.complete(7);
    answers.forEach(Patience::value);

    bank.passivateUntil(0);
  }

  @Test
  void busyActorHandlesItsMessagesBeforePassivation() {
    var gate = new Gate();
    bank.ada().sendMessages(List.of(new WaitAtGate(gate), new Pay(3)));
    Patience.await(gate.entered);

    bank.advanceBeyondIdleTime();
    gate.open();
    Patience.eventually(() -> bank.accounts.size() == 0);

    assertEquals(3, bank.savedBalances.get("ada"));
  }

  @Test
  void idleActorEndsOnSystemClock() {
    var entities = Entities.open(ActorSystem.anonymous(), Duration.ofMillis(10), bank::birth);

    entities.actor("ada").sendMessage(new Pay(1));
    Patience.eventually(() -> entities.size() == 0);

    assertEquals(1, entities.actor("ada").ask(new Balance()));
    entities.close();
  }

  static List<Throwable> timerFailures() {
    return List.of(new IllegalStateException("planned"), new AssertionError("planned"));
  }

  @ParameterizedTest
  @MethodSource("timerFailures")
  void idleActorsEndAlthoughIdleTimerOnceFailedToStart(Throwable failure) {
    var remainingFailures = new AtomicInteger(1);
    var clock = new Clock() {
      @Override
      public Scheduler.Timer schedule(Duration delay, Runnable task) {
        if (remainingFailures.getAndDecrement() > 0) throw Throwables.<Error>sneakyThrow(failure);
        return super.schedule(delay, task);
      }
    };
    try (var logged = new Logged();
        var scope = ActorSystem.openScope("other clock", o -> o.withScheduler(clock));
        var accounts = bank.accountsIn(scope)) {
      accounts.actor("ada").sendMessage(new Pay(1));
      accounts.actor("bob").sendMessage(new Pay(1));
      clock.manual.advance(BankFixture.IDLE.multipliedBy(2));

      Patience.eventually(() -> accounts.size() == 0);
      assertTrue(logged.text().contains("could not set the timer that ends idle actors"), logged.text());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void atMostThousandActorsEndConcurrently(boolean closing) {
    var stopCount = new AtomicInteger();
    var gate = new CountDownLatch(1);
    var entities = Entities.open(bank.scope.anonymous(), BankFixture.IDLE,
        (ActorBuilder<Object> builder, Integer key) -> builder.initialState(() -> key).onStop(state -> {
          stopCount.incrementAndGet();
          Patience.await(gate);
        }).newActor((Integer state, Pay pay) -> {}));
    for (int key = 0; key < 1_100; key++) entities.actor(key).sendMessage(new Pay(key));
    if (closing) entities.sendPoisonPill();
    else bank.clock.advance(BankFixture.IDLE); // a second more would let the others end, too
    Patience.eventually(() -> stopCount.get() == 1_000);

    for (int i = 0; i < 1_000; i++) Thread.yield();
    assertEquals(1_000, stopCount.get());
    gate.countDown();
    Patience.eventually(() -> entities.size() == 0);

    assertEquals(1_100, stopCount.get());
    entities.close();
  }

  @Promise("23.12")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void thousandHangingStopHooksDoNotKeepOtherActorsAlive(boolean closing) {
    var stopCount = new AtomicInteger();
    var gate = new CountDownLatch(1);
    try (var logged = new Logged()) {
      var entities = Entities.open(bank.scope.anonymous(), BankFixture.IDLE,
          (ActorBuilder<Object> builder, Integer key) -> builder.initialState(() -> key).onStop(state -> {
            stopCount.incrementAndGet();
            if (state < 1_000) Patience.await(gate);
          }).newActor((Integer state, Pay pay) -> {}));
      for (int key = 0; key < 1_000; key++) entities.actor(key).sendMessage(new Pay(key));
      if (closing) for (int key = 1_000; key < 1_100; key++) entities.actor(key).sendMessage(new Pay(key));
      if (closing) entities.sendPoisonPill();
      else bank.advanceBeyondIdleTime();
      Patience.eventually(() -> stopCount.get() >= (closing ? 900 : 1_000));
      if (!closing) for (int key = 1_000; key < 1_100; key++) entities.actor(key).sendMessage(new Pay(key));
      Patience.eventually(() -> {
        if (closing) bank.clock.advance(Duration.ofSeconds(1));
        else bank.advanceBeyondIdleTime();
        return stopCount.get() == 1_100;
      });

      assertTrue(logged.text().contains("none of 1000 actors of entities '"), logged::text);
      gate.countDown();
      Patience.eventually(() -> entities.size() == 0);
      entities.close();
    }
  }

  @Test
  void endlessIdleTimeIsAccepted() {
    try (var entities = Entities.open(ActorSystem.anonymous(), Duration.ofSeconds(Long.MAX_VALUE),
        (ActorBuilder<Object> builder, String name) -> builder.newActor((BankFixture.Order order) -> {}))) {
      assertTrue(entities.actor("ada").sendMessage(new Pay(1)));
    }
  }
}
