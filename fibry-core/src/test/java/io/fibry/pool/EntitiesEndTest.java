package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.ExitReason;
import io.fibry.Gate;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Order;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.pool.BankFixture.ReplyLater;
import io.fibry.pool.BankFixture.Stand;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The end of one actor through its address, and of all. */
class EntitiesEndTest {
  private BankFixture bank = new BankFixture(Strategy.FIBER);
  private final AtomicReference<Entities<String, Order>> all = new AtomicReference<>();

  @AfterEach
  void closes() {
    Gate.openAll();
    if (all.get() != null) all.get().kill();
    bank.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  private Gate occupied() {
    var gate = new Gate();
    bank.ada().sendMessage(new Stand(gate));
    Patience.await(gate.entered);
    return gate;
  }

  // ---- of one

  @Test
  void closedAddressHandlesWaitingMessagesAndHasSuccessor() {
    bank.ada().sendMessage(new Pay(3));

    bank.ada().close();

    assertEquals(3, bank.saved.get("ada"));
    assertEquals(0, bank.accounts.size());
    assertEquals(3, bank.ada().ask(new Balance()));
  }

  @Test
  void messageSentAfterPillIsHandledBySuccessor() {
    var gate = occupied();
    bank.ada().sendPoisonPill();

    var sender = Patience.startFiber(() -> bank.ada().sendMessage(new Pay(1)));
    Patience.parked(sender);
    gate.open();
    Patience.joined(sender); // its successor is born before it has the message

    assertEquals(1, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
    assertEquals(List.of(), bank.letters.messages());
  }

  @Test
  void askExitLeavesWhatWaitsUndelivered() {
    var gate = occupied();
    bank.ada().sendMessage(new Pay(1));

    bank.ada().askExit();
    gate.open();
    bank.ada().waitForExit();

    assertEquals(List.of(new Pay(1)), bank.letters.messages());
  }

  @Test
  void killInterruptsLivingActor() {
    occupied();
    var exit = bank.ada().onExit();

    bank.ada().kill();

    assertInstanceOf(ExitReason.Killed.class, Patience.value(exit));
  }

  @Test
  void closeOnExitRunsWhenLivingActorEnds() {
    bank.ada().sendMessage(new Pay(1));
    bank.ada().closeOnExit(() -> bank.events.add("closed"));

    bank.idle(0);

    assertEquals(List.of("born ada", "saved ada", "closed"), bank.events);
  }

  @Test
  void addressWithoutLivingActorHasNothingToEndOrAwait() {
    bank.ada().askExit();
    bank.ada().sendPoisonPill();
    bank.ada().kill();
    bank.ada().close();
    bank.ada().waitForExit();
    bank.ada().closeOnExit(() -> bank.events.add("closed"));

    assertTrue(bank.ada().waitForExit(Duration.ZERO));
    assertTrue(bank.ada().onExit().isDone());
    assertEquals(List.of("closed"), bank.events);
  }

  @Test
  void anActorMayCloseItsOwnAddress() {
    all.set(bank.others(name -> bank.scope.anonymous().newActor(order -> {
      all.get().actor(name).close();
      bank.events.add("returned");
    })));

    all.get().actor("ada").sendMessage(new Pay(1));
    Patience.eventually(() -> all.get().size() == 0);

    assertEquals(List.of("returned"), bank.events);
  }

  // ---- of all

  @ParameterizedTest
  @MethodSource("strategies")
  void closeHandlesWhatWaitsAndWaitsForAll(String strategy) {
    bank.close();
    bank = new BankFixture(Variants.STRATEGIES.get(strategy));
    for (int i = 0; i < 20; i++) bank.accounts.actor("a" + i).sendMessage(new Pay(i));

    bank.accounts.close();

    for (int i = 0; i < 20; i++) assertEquals(i, bank.saved.get("a" + i));
    assertEquals(0, bank.accounts.size());
    assertEquals(0, bank.alive.get());
    assertEquals(new ExitReason.Finished(), bank.accounts.onExit().join());
  }

  @Test
  void addressesOfClosedEntitiesActLikeEndedActors() {
    bank.accounts.close();

    assertFalse(bank.ada().sendMessage(new Pay(1)));
    assertFalse(bank.ada().sendMessages(List.of(new Pay(2), new Pay(3))));
    assertFalse(bank.ada().sendMessages(List.of()));
    assertThrows(RejectedExecutionException.class, () -> bank.ada().execute(() -> {}));
    assertThrows(ActorStoppedException.class, () -> bank.ada().ask(new Balance(), Patience.LONG));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(bank.ada().sendMessageReturn(new Balance())));
    assertEquals("entity ada", assertThrows(ActorStoppedException.class, () -> bank.ada().ask(new Balance())).actor());
    assertTrue(bank.scope.deadLetters().stream()
        .anyMatch(letter -> letter.actor().equals("entity ada") && letter.message().equals(new Pay(3))));
    assertEquals(List.of(), bank.events);
  }

  @Test
  void addressOfClosedEntitiesDoesNotReachActorOfSameName() {
    bank.accounts.close();

    var namesake = ActorSystem.named("entity ada").newActor((Order order) -> bank.events.add("heard " + order));

    assertFalse(bank.ada().sendMessage(new Pay(1)));

    namesake.close();
    assertEquals(List.of(), bank.events);
  }

  @Test
  void askExitEndsAllAfterTheirMessages() {
    var gate = occupied();
    bank.ada().sendMessage(new Pay(1));

    bank.accounts.askExit();
    gate.open();
    bank.accounts.waitForExit();

    assertEquals(List.of(new Pay(1)), bank.letters.messages());
    assertEquals(new ExitReason.Stopped(), bank.accounts.onExit().join());
  }

  @Test
  void killInterruptsAll() {
    occupied();
    var promise = bank.accounts.actor("bob").sendMessageReturn(new ReplyLater(new CompletableFuture<>()));

    bank.accounts.kill();

    assertTrue(bank.accounts.waitForExit(Patience.LONG));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(promise));
    assertEquals(new ExitReason.Killed(), bank.accounts.onExit().join());
  }

  @Test
  void aKillOverrulesAPill() {
    occupied();
    bank.accounts.sendPoisonPill();
    assertFalse(bank.accounts.waitForExit(Duration.ofMillis(1)));

    bank.accounts.kill();

    assertTrue(bank.accounts.waitForExit(Patience.LONG));
    assertEquals(new ExitReason.Killed(), bank.accounts.onExit().join());
  }

  @Test
  void closeOnExitRunsInReverseOrderAfterAllHaveEnded() {
    bank.ada().sendMessage(new Pay(1));
    assertSame(bank.accounts,
        bank.accounts.closeOnExit(() -> bank.events.add("first"), () -> bank.events.add("second")));

    bank.accounts.close();

    assertEquals(List.of("born ada", "saved ada", "second", "first"), bank.events);
  }

  @Test
  void memberMayCloseAllEntities() {
    var returned = new CompletableFuture<String>();
    all.set(bank.others(name -> bank.scope.named(name).newActor(order -> {
      all.get().close();
      returned.complete(name);
    })));

    all.get().actor("bob").sendMessage(new Pay(1));

    assertEquals("bob", Patience.value(returned));
    assertTrue(all.get().waitForExit(Patience.LONG));
  }

  @Test
  void askedActorThatClosesAllEntitiesIsToldOfCycle() {
    var thrown = new CompletableFuture<Throwable>();
    Actor<Balance> outside = bank.scope.named("outside").newActor((request, context) -> {
      try {
        all.get().close();
      } catch (Throwable failure) {
        thrown.complete(failure);
      } finally {
        thrown.complete(null);
        context.reply(request, 1);
      }
    });
    all.set(bank.others(name -> bank.scope.named(name).newActor(order -> outside.ask(new Balance()))));

    all.get().actor("bob").sendMessage(new Pay(1));

    var failure = Patience.value(thrown);
    // one of the two that wait for each other is told
    assertTrue(failure == null || failure instanceof AskCycleException, () -> "" + failure);
    assertTrue(all.get().waitForExit(Patience.LONG));
  }

  @Test
  void actorBornDuringEndEndsToo() {
    var gate = new Gate();
    all.set(bank.others(name -> {
      gate.passDeaf();
      return bank.bornInTheScope(name);
    }));
    var sent = new CompletableFuture<Boolean>();
    Patience.startFiber(() -> sent.complete(all.get().actor("ada").sendMessage(new Pay(1))));
    Patience.await(gate.entered);

    all.get().sendPoisonPill();
    assertFalse(all.get().waitForExit(Duration.ofMillis(10)));
    gate.open();
    all.get().waitForExit();

    assertFalse(Patience.value(sent));
    assertTrue(bank.scope.awaitQuiescence(Patience.LONG));
    assertEquals(0, bank.alive.get());
    assertFalse(bank.scope.dump().contains("account/ada"), bank.scope.dump());
  }

  @Test
  void aKillDoesNotWaitForABirth() {
    var gate = new Gate();
    all.set(bank.others(name -> {
      gate.passDeaf();
      return bank.bornInTheScope(name);
    }));
    Patience.startFiber(() -> all.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    all.get().kill();

    assertTrue(all.get().waitForExit(Patience.LONG));
    gate.open();
    Patience.eventually(() -> bank.events.contains("born ada") && !bank.scope.dump().contains("account/ada"));
  }

  @Test
  void secondEndChangesNothing() {
    bank.ada().sendMessage(new Pay(1));

    bank.accounts.close();
    bank.accounts.close();
    bank.accounts.askExit();
    bank.accounts.kill();

    assertSame(bank.accounts.onExit(), bank.accounts.onExit());
    assertEquals(new ExitReason.Finished(), bank.accounts.onExit().join());
    assertEquals(List.of("born ada", "saved ada"), bank.events);
  }
}
