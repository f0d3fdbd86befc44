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
import io.fibry.Patience;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.pool.Town.Balance;
import io.fibry.pool.Town.Order;
import io.fibry.pool.Town.Pay;
import io.fibry.pool.Town.ReplyLater;
import io.fibry.pool.Town.Stand;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ends: of one actor through its address, and of all. */
@Timeout(60)
class EntitiesEndTest {
  private Town town = new Town(Strategy.FIBER);
  private final AtomicReference<Entities<String, Order>> all = new AtomicReference<>();

  @AfterEach
  void closes() {
    Gate.openAll();
    if (all.get() != null) all.get().kill();
    town.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  private Gate occupied() {
    var gate = new Gate();
    town.ada().sendMessage(new Stand(gate));
    Patience.await(gate.entered);
    return gate;
  }

  // ---- of one

  @Test
  void closeOfAnAddressHandlesWhatWaitsAndTheNextUseHasASuccessor() {
    town.ada().sendMessage(new Pay(3));

    town.ada().close();

    assertEquals(3, town.saved.get("ada"));
    assertEquals(0, town.accounts.size());
    assertEquals(3, town.ada().ask(new Balance()));
  }

  @Test
  void whoSendsAfterAPillIsTheSuccessors() {
    var gate = occupied();
    town.ada().sendPoisonPill();

    Patience.parked(Patience.elsewhere(() -> town.ada().sendMessage(new Pay(1))));
    gate.open();
    Patience.eventually(() -> town.events.size() == 3);

    assertEquals(1, town.ada().ask(new Balance()));
    assertEquals(List.of(), town.letters.messages());
  }

  @Test
  void askExitLeavesWhatWaitsUndelivered() {
    var gate = occupied();
    town.ada().sendMessage(new Pay(1));

    town.ada().askExit();
    gate.open();
    town.ada().waitForExit();

    assertEquals(List.of(new Pay(1)), town.letters.messages());
  }

  @Test
  void killInterruptsTheOneThatLives() {
    occupied();
    var exit = town.ada().onExit();

    town.ada().kill();

    assertInstanceOf(ExitReason.Killed.class, Patience.value(exit));
  }

  @Test
  void whatIsClosedOnExitIsClosedWhenTheOneThatLivesEnds() {
    town.ada().sendMessage(new Pay(1));
    town.ada().closeOnExit(() -> town.events.add("closed"));

    town.rest(0);

    assertEquals(List.of("born ada", "saved ada", "closed"), town.events);
  }

  @Test
  void whereNoneIsAliveThereIsNothingToEndAndNothingToWaitFor() {
    town.ada().askExit();
    town.ada().sendPoisonPill();
    town.ada().kill();
    town.ada().close();
    town.ada().waitForExit();
    town.ada().closeOnExit(() -> town.events.add("closed"));

    assertTrue(town.ada().waitForExit(Duration.ZERO));
    assertTrue(town.ada().onExit().isDone());
    assertEquals(List.of("closed"), town.events);
  }

  @Test
  void anActorMayCloseItsOwnAddress() {
    all.set(town.others(name -> town.scope.anonymous().newActor(order -> {
      all.get().actor(name).close();
      town.events.add("returned");
    })));

    all.get().actor("ada").sendMessage(new Pay(1));
    Patience.eventually(() -> all.get().size() == 0);

    assertEquals(List.of("returned"), town.events);
  }

  // ---- of all

  @ParameterizedTest
  @MethodSource("strategies")
  void closeHandlesWhatWaitsAndWaitsForAll(String strategy) {
    town.close();
    town = new Town(Variants.STRATEGIES.get(strategy));
    for (int i = 0; i < 20; i++) town.accounts.actor("a" + i).sendMessage(new Pay(i));

    town.accounts.close();

    for (int i = 0; i < 20; i++) assertEquals(i, town.saved.get("a" + i));
    assertEquals(0, town.accounts.size());
    assertEquals(0, town.alive.get());
    assertEquals(new ExitReason.Finished(), town.accounts.onExit().join());
  }

  @Test
  void afterwardsAddressesAnswerLikeEndedActors() {
    town.accounts.close();

    assertFalse(town.ada().sendMessage(new Pay(1)));
    assertFalse(town.ada().sendMessages(List.of(new Pay(2), new Pay(3))));
    assertFalse(town.ada().sendMessages(List.of()));
    assertThrows(RejectedExecutionException.class, () -> town.ada().execute(() -> {}));
    assertThrows(ActorStoppedException.class, () -> town.ada().ask(new Balance(), Patience.LONG));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(town.ada().sendMessageReturn(new Balance())));
    assertEquals("entity ada", assertThrows(ActorStoppedException.class, () -> town.ada().ask(new Balance())).actor());
    assertTrue(ActorSystem.root().deadLetters().stream()
        .anyMatch(letter -> letter.actor().equals("entity ada") && letter.message().equals(new Pay(3))));
    assertEquals(List.of(), town.events);
  }

  /** Who has the name of an entity by chance does not get its messages. */
  @Test
  void afterwardsAnActorOfThatNameHearsNothing() {
    town.accounts.close();

    var namesake = ActorSystem.named("entity ada").newActor((Order order) -> town.events.add("heard " + order));

    assertFalse(town.ada().sendMessage(new Pay(1)));

    namesake.close();
    assertEquals(List.of(), town.events);
  }

  @Test
  void askExitEndsAllAfterTheirMessages() {
    var gate = occupied();
    town.ada().sendMessage(new Pay(1));

    town.accounts.askExit();
    gate.open();
    town.accounts.waitForExit();

    assertEquals(List.of(new Pay(1)), town.letters.messages());
    assertEquals(new ExitReason.Stopped(), town.accounts.onExit().join());
  }

  @Test
  void killInterruptsAll() {
    occupied();
    var promise = town.accounts.actor("bob").sendMessageReturn(new ReplyLater(new CompletableFuture<>()));

    town.accounts.kill();

    assertTrue(town.accounts.waitForExit(Patience.LONG));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(promise));
    assertEquals(new ExitReason.Killed(), town.accounts.onExit().join());
  }

  @Test
  void aKillOverrulesAPill() {
    occupied();
    town.accounts.sendPoisonPill();
    assertFalse(town.accounts.waitForExit(Duration.ofMillis(1)));

    town.accounts.kill();

    assertTrue(town.accounts.waitForExit(Patience.LONG));
    assertEquals(new ExitReason.Killed(), town.accounts.onExit().join());
  }

  @Test
  void whatItClosesOnExitIsClosedLastOneFirstAfterAllHaveEnded() {
    town.ada().sendMessage(new Pay(1));
    assertSame(town.accounts,
        town.accounts.closeOnExit(() -> town.events.add("first"), () -> town.events.add("second")));

    town.accounts.close();

    assertEquals(List.of("born ada", "saved ada", "second", "first"), town.events);
  }

  @Test
  void oneOfThemMayCloseThemAll() {
    var returned = new CompletableFuture<String>();
    all.set(town.others(name -> town.scope.named(name).newActor(order -> {
      all.get().close();
      returned.complete(name);
    })));

    all.get().actor("bob").sendMessage(new Pay(1));

    assertEquals("bob", Patience.value(returned));
    assertTrue(all.get().waitForExit(Patience.LONG));
  }

  @Test
  void whoIsWaitedForByOneOfThemIsToldIfHeWaitsForThemAll() {
    var thrown = new CompletableFuture<Throwable>();
    Actor<Balance> outside = town.scope.named("outside").newActor((request, context) -> {
      try {
        all.get().close();
      } catch (Throwable failure) {
        thrown.complete(failure);
      } finally {
        thrown.complete(null);
        context.reply(request, 1);
      }
    });
    all.set(town.others(name -> town.scope.named(name).newActor(order -> outside.ask(new Balance()))));

    all.get().actor("bob").sendMessage(new Pay(1));

    var failure = Patience.value(thrown);
    // either of the two who wait for one another is told
    assertTrue(failure == null || failure instanceof AskCycleException, () -> "" + failure);
    assertTrue(all.get().waitForExit(Patience.LONG));
  }

  @Test
  void whoIsBeingBornWhenAllEndsEndsToo() {
    var gate = new Gate();
    all.set(town.others(name -> {
      gate.passDeaf();
      return town.birth(name);
    }));
    var sent = new CompletableFuture<Boolean>();
    Patience.elsewhere(() -> sent.complete(all.get().actor("ada").sendMessage(new Pay(1))));
    Patience.await(gate.entered);

    all.get().sendPoisonPill();
    assertFalse(all.get().waitForExit(Duration.ofMillis(10)));
    gate.open();
    all.get().waitForExit();

    assertFalse(Patience.value(sent));
    assertTrue(town.scope.awaitQuiet(Patience.LONG));
    assertEquals(0, town.alive.get());
    assertFalse(town.scope.dump().contains("account/ada"), town.scope.dump());
  }

  @Test
  void aKillDoesNotWaitForABirth() {
    var gate = new Gate();
    all.set(town.others(name -> {
      gate.passDeaf();
      return town.birth(name);
    }));
    Patience.elsewhere(() -> all.get().actor("ada").sendMessage(new Pay(1)));
    Patience.await(gate.entered);

    all.get().kill();

    assertTrue(all.get().waitForExit(Patience.LONG));
    gate.open();
    Patience.eventually(() -> town.events.contains("born ada") && !town.scope.dump().contains("account/ada"));
  }

  @Test
  void endedTwiceIsEndedOnce() {
    town.ada().sendMessage(new Pay(1));

    town.accounts.close();
    town.accounts.close();
    town.accounts.askExit();
    town.accounts.kill();

    assertSame(town.accounts.onExit(), town.accounts.onExit());
    assertEquals(new ExitReason.Finished(), town.accounts.onExit().join());
    assertEquals(List.of("born ada", "saved ada"), town.events);
  }
}
