package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.pool.BankFixture.Balance;
import io.fibry.pool.BankFixture.Pay;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.FailingKey;
import io.fibry.testing.Gate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests timers that are set through an address. */
class EntitiesTimersTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final BankFixture bank = new BankFixture(Strategy.FIBER);

  @AfterEach
  void close() {
    bank.close();
  }

  private void awaitBalance(int balance) {
    Patience.eventually(() -> bank.ada().ask(new Balance()) == balance);
  }

  @Test
  void timerMessageCreatesActorIfNoneIsAlive() {
    bank.ada().sendMessageLater(new Pay(1), MINUTE);
    assertEquals(0, bank.accounts.size());

    bank.clock.advance(MINUTE);
    Patience.eventually(() -> bank.events.contains("born ada"));

    awaitBalance(1);
  }

  @Test
  void timerSendsMessageToNewActorAfterPassivation() {
    bank.ada().sendMessage(new Pay(1));
    bank.ada().sendMessageLater(new Pay(2), BankFixture.IDLE.multipliedBy(4));

    bank.passivateUntil(0);
    bank.advanceBeyondIdleTime();

    awaitBalance(3);
  }

  @Test
  void timerDoesNotKeepActorAlive() {
    bank.ada().sendMessage(new Pay(1));
    bank.ada().sendMessageLater(new Pay(2), BankFixture.IDLE.multipliedBy(4));

    bank.passivateUntil(0);

    assertEquals(1, bank.savedBalances.get("ada"));
  }

  @Test
  void repeatedMessageArrivesEachPeriod() {
    bank.ada().sendMessageEvery(new Pay(1), MINUTE);

    for (int i = 1; i <= 3; i++) {
      bank.clock.advance(MINUTE);
      awaitBalance(i);
    }
  }

  @Test
  void repeatedTimerSkipsMessageWhilePreviousMessageIsInFlight() {
    var gate = new Gate();
    var slowEntities = bank.openEntities(name -> {
      gate.passUninterruptibly();
      return bank.newAccount(name);
    });
    slowEntities.actor("ada").sendMessageEvery(new Pay(1), MINUTE);
    bank.clock.advance(MINUTE);
    Patience.await(gate.entered);

    bank.clock.advance(MINUTE.multipliedBy(5));
    gate.open();

    Patience.eventually(() -> slowEntities.actor("ada").ask(new Balance()) > 0);
    assertEquals(1, slowEntities.actor("ada").ask(new Balance()));
    slowEntities.close();
  }

  @Test
  void repeatedTimerSendsMessageThatBecameDueDuringASend() {
    var handled = new AtomicInteger();
    var gate = new Gate();
    // on CALLER the sending thread handles the message, before the timer knows that the actor has
    // accepted it
    var callerEntities =
        bank.openEntities(name -> ActorSystem.anonymous().strategy(Strategy.CALLER).newActor(message -> {
          if (handled.incrementAndGet() == 1) gate.passUninterruptibly();
        }));
    callerEntities.actor("ada").sendMessageEvery(new Pay(1), MINUTE);
    bank.clock.advance(MINUTE);
    Patience.await(gate.entered);

    bank.clock.advance(MINUTE.multipliedBy(3));
    gate.open();
    Patience.eventually(() -> handled.get() == 2);
    bank.clock.advance(MINUTE);

    Patience.eventually(() -> handled.get() == 3);
    callerEntities.close();
  }

  @Test
  void timerReplacesTimerOfSameEntityAndKey() {
    bank.ada().sendMessageLater("bill", new Pay(1), MINUTE);
    bank.ada().sendMessageEvery("bill", new Pay(10), MINUTE);
    bank.ada().sendMessageLater("bill", new Pay(100), MINUTE);
    bank.accounts.actor("bob").sendMessageLater("bill", new Pay(1_000), MINUTE);

    bank.clock.advance(MINUTE);

    awaitBalance(100);
    Patience.eventually(() -> bank.accounts.actor("bob").ask(new Balance()) == 1_000);
  }

  @Test
  void repeatedTimerContinuesAfterToStringOfItsKeyThrew() {
    var hasText = new AtomicBoolean();
    final class Key {
      @Override
      public String toString() {
        if (!hasText.get()) throw new UnsupportedOperationException("made up, for a test");
        return "ada";
      }
    }
    try (var logged = new Logged();
        var accounts = Entities.open(bank.scope.named("named"), BankFixture.IDLE,
            (ActorBuilder<Object> builder, Key key) -> bank.birth(builder, "ada"))) {
      accounts.actor(new Key()).sendMessageEvery(new Pay(1), MINUTE);
      bank.clock.advance(MINUTE);
      Patience.eventually(() -> logged.entriesAbout("dead letter").contains("made up"));

      hasText.set(true);

      Patience.eventually(() -> {
        bank.clock.advance(MINUTE);
        return bank.events.contains("born ada");
      });
    }
  }

  @Test
  void keyWithThrowingHashCodeSetsNoTimer() {
    assertThrows(IllegalStateException.class, () -> bank.ada().sendMessageLater(new FailingKey(), new Pay(1), MINUTE));
    bank.clock.advance(MINUTE);

    assertEquals(0, bank.ada().ask(new Balance()));
  }

  @Test
  void cancelledTimerSendsNothing() {
    var timer = bank.ada().sendMessageLater(new Pay(1), MINUTE);
    var repeatedTimer = bank.ada().sendMessageEvery("key", new Pay(1), MINUTE);

    assertTrue(timer.cancel() && repeatedTimer.cancel());
    assertFalse(timer.cancel());
    bank.clock.advance(MINUTE);

    assertEquals(0, bank.ada().ask(new Balance()));
  }

  @Test
  void timersEndWithTheEntities() {
    bank.ada().sendMessageLater(new Pay(1), MINUTE);
    bank.ada().sendMessageEvery(new Pay(1), MINUTE);
    bank.accounts.close();

    try (var logged = new Logged()) {
      bank.clock.advance(MINUTE);
      assertEquals("", logged.entriesAbout("ada", "Pay", "Entities", "EntityTimers"));
    }

    assertEquals(List.of(), bank.events);
  }

  @Test
  void timerSetAfterEntitiesEndMakesDeadLetterAtOnce() {
    bank.accounts.close();

    boolean wasPending = bank.ada().sendMessageLater(new Pay(77), MINUTE).cancel();

    assertFalse(wasPending);
    assertTrue(bank.scope.deadLetters().stream().anyMatch(letter -> letter.message().equals(new Pay(77))));
  }

  @Test
  void failedCreationMakesTimerMessageDeadLetterAndIsLogged() {
    var failingEntities = bank.openEntities(name -> {
      throw new IllegalStateException("planned");
    });
    try (var logged = new Logged()) {
      failingEntities.actor("ada").sendMessageLater(new Pay(78), MINUTE);

      bank.clock.advance(MINUTE);

      Patience.eventually(
          () -> bank.scope.deadLetters().stream().anyMatch(letter -> letter.message().equals(new Pay(78))));
      assertTrue(logged.text().contains("a timer could not send Pay[amount=78] to entity ada"), logged.text());
    }
    failingEntities.close();
  }

  @Test
  void zeroPeriodAndNullArgumentsAreRefused() {
    assertEquals("message",
        assertThrows(NullPointerException.class, () -> bank.ada().sendMessageLater(null, MINUTE)).getMessage());
    assertEquals("delay",
        assertThrows(NullPointerException.class, () -> bank.ada().sendMessageLater(new Pay(1), null)).getMessage());
    assertEquals("period",
        assertThrows(NullPointerException.class, () -> bank.ada().sendMessageEvery(new Pay(1), null)).getMessage());
    assertEquals("key",
        assertThrows(NullPointerException.class, () -> bank.ada().sendMessageLater(null, new Pay(1), MINUTE))
            .getMessage());
    assertThrows(IllegalArgumentException.class, () -> bank.ada().sendMessageEvery(new Pay(1), Duration.ZERO));
  }
}
