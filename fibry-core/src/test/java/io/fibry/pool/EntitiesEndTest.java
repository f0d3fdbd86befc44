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
import io.fibry.Strategy;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Order;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.pool.BankFixture.ReplyLater;
import io.fibry.pool.BankFixture.WaitAtGate;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the end of one actor through its address, and the end of all entities. */
class EntitiesEndTest {
  private BankFixture bank = new BankFixture(Strategy.FIBER);
  private final AtomicReference<Entities<String, Order>> entities = new AtomicReference<>();

  @AfterEach
  void close() {
    Gate.openAll();
    if (entities.get() != null) entities.get().kill();
    bank.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  private Gate occupyAda() {
    var gate = new Gate();
    bank.ada().sendMessage(new WaitAtGate(gate));
    Patience.await(gate.entered);
    return gate;
  }

  // ---- the end of one actor

  @Test
  void waitForExitOfUnknownKeyRefusesNullLimit() {
    assertEquals("limit",
        assertThrows(NullPointerException.class, () -> bank.ada().waitForExit(null)).getMessage());
  }

  @Test
  void closedEntityHandlesItsMessagesAndNextUseLoadsItsState() {
    bank.ada().sendMessage(new Pay(3));

    bank.ada().close();

    assertEquals(3, bank.savedBalances.get("ada"));
    assertEquals(0, bank.accounts.size());
    assertEquals(3, bank.ada().ask(new Balance()));
  }

  @Test
  void messageSentAfterPoisonPillIsHandledByNewActor() {
    var gate = occupyAda();
    bank.ada().sendPoisonPill();

    var sender = Patience.startFiber(() -> bank.ada().sendMessage(new Pay(1)));
    Patience.awaitParked(sender);
    gate.open();
    Patience.awaitEnd(sender); // when the send returns, the successor exists and has the message

    assertEquals(1, bank.ada().ask(new Balance()));
    assertEquals(List.of("born ada", "saved ada", "born ada"), bank.events);
    assertEquals(List.of(), bank.letters.messages());
  }

  @Test
  void askExitOfEntityMakesQueuedMessagesDeadLetters() {
    var gate = occupyAda();
    bank.ada().sendMessage(new Pay(1));

    bank.ada().askExit();
    gate.open();
    bank.ada().waitForExit();

    assertEquals(List.of(new Pay(1)), bank.letters.messages());
  }

  @Test
  void killOfAddressEndsItsBusyActorAsKilled() {
    occupyAda();
    var exit = bank.ada().onExit();

    bank.ada().kill();

    assertInstanceOf(ExitReason.Killed.class, Patience.value(exit));
  }

  @Test
  void closeOnExitOfAddressRunsWhenItsActorIsPassivated() {
    bank.ada().sendMessage(new Pay(1));
    bank.ada().closeOnExit(() -> bank.events.add("closed"));

    bank.passivateUntil(0);

    assertEquals(List.of("born ada", "saved ada", "closed"), bank.events);
  }

  @Test
  void exitMethodsOfAddressWithoutActorReturnAtOnce() {
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
  void actorMayCloseItsOwnAddress() {
    entities.set(bank.openEntities(name -> bank.scope.anonymous().newActor(order -> {
      entities.get().actor(name).close();
      bank.events.add("returned");
    })));

    entities.get().actor("ada").sendMessage(new Pay(1));
    Patience.eventually(() -> entities.get().size() == 0);

    assertEquals(List.of("returned"), bank.events);
  }

  // ---- the end of all entities

  @ParameterizedTest
  @MethodSource("strategies")
  void closeHandlesWaitingMessagesAndAwaitsAllActors(String strategy) {
    bank.close();
    bank = new BankFixture(Variants.STRATEGIES.get(strategy));
    for (int i = 0; i < 20; i++) bank.accounts.actor("a" + i).sendMessage(new Pay(i));

    bank.accounts.close();

    for (int i = 0; i < 20; i++) assertEquals(i, bank.savedBalances.get("a" + i));
    assertEquals(0, bank.accounts.size());
    assertEquals(0, bank.liveAccounts.get());
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
  void askExitEndsEachActorAfterItsCurrentMessage() {
    var gate = occupyAda();
    bank.ada().sendMessage(new Pay(1));

    bank.accounts.askExit();
    gate.open();
    bank.accounts.waitForExit();

    assertEquals(List.of(new Pay(1)), bank.letters.messages());
    assertEquals(new ExitReason.Stopped(), bank.accounts.onExit().join());
  }

  @Test
  void killOfEntitiesInterruptsAllLivingActors() {
    occupyAda();
    var promise = bank.accounts.actor("bob").sendMessageReturn(new ReplyLater(new CompletableFuture<>()));

    bank.accounts.kill();

    assertTrue(bank.accounts.waitForExit(Patience.LONG));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(promise));
    assertEquals(new ExitReason.Killed(), bank.accounts.onExit().join());
  }

  @Test
  void killAfterPoisonPillEndsEntitiesAsKilled() {
    occupyAda();
    bank.accounts.sendPoisonPill();
    assertFalse(bank.accounts.waitForExit(Duration.ofMillis(1)));

    bank.accounts.kill();

    assertTrue(bank.accounts.waitForExit(Patience.LONG));
    assertEquals(new ExitReason.Killed(), bank.accounts.onExit().join());
  }

  @Test
  void closeOnExitResourcesCloseInReverseAfterAllActorsEnd() {
    bank.ada().sendMessage(new Pay(1));
    assertSame(bank.accounts,
        bank.accounts.closeOnExit(() -> bank.events.add("first"), () -> bank.events.add("second")));

    bank.accounts.close();

    assertEquals(List.of("born ada", "saved ada", "second", "first"), bank.events);
  }

  @Test
  void handlerOfEntityMayCloseAllEntities() {
    var closerName = new CompletableFuture<String>();
    entities.set(bank.openEntities(name -> bank.scope.named(name).newActor(order -> {
      entities.get().close();
      closerName.complete(name);
    })));

    entities.get().actor("bob").sendMessage(new Pay(1));

    assertEquals("bob", Patience.value(closerName));
    assertTrue(entities.get().waitForExit(Patience.LONG));
  }

  @Test
  void entitiesEndAlthoughEntityAsksActorThatClosesThem() {
    var closeResult = new LinkedBlockingQueue<Object>();
    var answers = new LinkedBlockingQueue<Object>();
    Actor<Balance> outsideActor = bank.scope.named("outside").newActor((request, context) -> {
      try {
        entities.get().close();
        closeResult.add("closed");
      } catch (Throwable failure) {
        closeResult.add(failure);
      } finally {
        context.reply(request, 1);
      }
    });
    entities.set(bank.openEntities(name -> bank.scope.named(name).newActor(order -> {
      try {
        answers.add(outsideActor.ask(new Balance()));
      } catch (AskCycleException failure) {
        answers.add(failure);
      }
    })));

    entities.get().actor("bob").sendMessage(new Pay(1));

    // the last of the three to wait gets the exception: the member, the actor "outside", or the
    // sweeper, which then does not wait for the member
    var closed = Patience.nextOf(closeResult);
    var answer = Patience.nextOf(answers);
    assertTrue(closed.equals("closed") || closed instanceof AskCycleException, closed::toString);
    assertTrue(answer.equals(1) || answer instanceof AskCycleException && closed.equals("closed"),
        answer::toString);
    assertTrue(entities.get().waitForExit(Patience.LONG));
  }

  @Test
  void actorCreatedWhileEntitiesEndIsEnded() {
    var gate = new Gate();
    entities.set(bank.openEntities(name -> {
      gate.passUninterruptibly();
      return bank.newAccount(name);
    }));
    CompletableFuture<Boolean> sendResult =
        Patience.callOnFiber(() -> entities.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    entities.get().sendPoisonPill();
    assertFalse(entities.get().waitForExit(Duration.ofMillis(10)));
    gate.open();
    entities.get().waitForExit();

    assertFalse(Patience.value(sendResult));
    assertTrue(bank.scope.awaitQuiescence(Patience.LONG));
    assertEquals(0, bank.liveAccounts.get());
    assertFalse(bank.scope.dump().contains("account/ada"), bank.scope.dump());
  }

  @Test
  void killDoesNotWaitForCreation() {
    var gate = new Gate();
    entities.set(bank.openEntities(name -> {
      gate.passUninterruptibly();
      return bank.newAccount(name);
    }));
    Patience.startFiber(() -> entities.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    entities.get().kill();

    assertTrue(entities.get().waitForExit(Patience.LONG));
    gate.open();
    Patience.eventually(() -> bank.events.contains("born ada") && !bank.scope.dump().contains("account/ada"));
  }

  @Test
  void closeOrKillOfClosedEntitiesChangesNothing() {
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
