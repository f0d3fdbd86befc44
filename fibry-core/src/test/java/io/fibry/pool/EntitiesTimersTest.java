package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Logged;
import io.fibry.Patience;
import io.fibry.Strategy;
import io.fibry.pool.Town.Balance;
import io.fibry.pool.Town.Pay;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Timers set through an address: they belong to it, not to the actor that lives. */
@Timeout(60)
class EntitiesTimersTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final Town town = new Town(Strategy.FIBER);

  @AfterEach
  void closes() {
    town.close();
  }

  private void balanceBecomes(int balance) {
    Patience.eventually(() -> town.ada().ask(new Balance()) == balance);
  }

  @Test
  void aMessageComesLaterAndMakesWhoIsNotAlive() {
    town.ada().sendMessageLater(new Pay(1), MINUTE);
    assertEquals(0, town.accounts.size());

    town.clock.advance(MINUTE);
    Patience.eventually(() -> town.events.contains("born ada"));

    balanceBecomes(1);
  }

  @Test
  void itOutlivesTheActorThatLivedWhenItWasSet() {
    town.ada().sendMessage(new Pay(1));
    town.ada().sendMessageLater(new Pay(2), Town.IDLE.multipliedBy(4));

    town.rest(0);
    town.rest();

    balanceBecomes(3);
  }

  @Test
  void itDoesNotKeepTheActorAlive() {
    town.ada().sendMessage(new Pay(1));
    town.ada().sendMessageLater(new Pay(2), Town.IDLE.multipliedBy(4));

    town.rest(0);

    assertEquals(1, town.saved.get("ada"));
  }

  @Test
  void oneThatRepeatsComesEachPeriod() {
    town.ada().sendMessageEvery(new Pay(1), MINUTE);

    for (int i = 1; i <= 3; i++) {
      town.clock.advance(MINUTE);
      balanceBecomes(i);
    }
  }

  @Test
  void oneThatRepeatsLeavesOutAMessageWhileTheOneBeforeIsOnItsWay() {
    var gate = new Gate();
    var slow = town.others(name -> {
      gate.passDeaf();
      return town.birth(name);
    });
    slow.actor("ada").sendMessageEvery(new Pay(1), MINUTE);
    town.clock.advance(MINUTE);
    Patience.await(gate.entered);

    town.clock.advance(MINUTE.multipliedBy(5));
    gate.open();

    Patience.eventually(() -> slow.actor("ada").ask(new Balance()) > 0);
    assertEquals(1, slow.actor("ada").ask(new Balance()));
    slow.close();
  }

  @Test
  void aKeyReplacesTheTimerOfTheSameEntityThatHasIt() {
    town.ada().sendMessageLater("bill", new Pay(1), MINUTE);
    town.ada().sendMessageEvery("bill", new Pay(10), MINUTE);
    town.ada().sendMessageLater("bill", new Pay(100), MINUTE);
    town.accounts.actor("bob").sendMessageLater("bill", new Pay(1_000), MINUTE);

    town.clock.advance(MINUTE);

    balanceBecomes(100);
    Patience.eventually(() -> town.accounts.actor("bob").ask(new Balance()) == 1_000);
  }

  @Test
  void takenBackItDoesNotCome() {
    var timer = town.ada().sendMessageLater(new Pay(1), MINUTE);
    var repeated = town.ada().sendMessageEvery("key", new Pay(1), MINUTE);

    assertTrue(timer.cancel() && repeated.cancel());
    assertFalse(timer.cancel());
    town.clock.advance(MINUTE);

    assertEquals(0, town.ada().ask(new Balance()));
  }

  @Test
  void timersEndWithTheEntities() {
    town.ada().sendMessageLater(new Pay(1), MINUTE);
    town.ada().sendMessageEvery(new Pay(1), MINUTE);
    town.accounts.close();

    try (var logged = new Logged()) {
      town.clock.advance(MINUTE);
      assertEquals("", logged.text());
    }

    assertEquals(List.of(), town.events);
  }

  @Test
  void setAfterTheEndItsMessageIsADeadLetterAtOnce() {
    town.accounts.close();

    boolean due = town.ada().sendMessageLater(new Pay(77), MINUTE).cancel();

    assertFalse(due);
    assertEquals(new Pay(77), ActorSystem.root().deadLetters().getLast().message());
  }

  @Test
  void aBirthThatFailsMakesADeadLetterAndIsLogged() {
    var broken = town.others(name -> {
      throw new IllegalStateException("planned");
    });
    try (var logged = new Logged()) {
      broken.actor("ada").sendMessageLater(new Pay(78), MINUTE);

      town.clock.advance(MINUTE);

      Patience.eventually(
          () -> ActorSystem.root().deadLetters().stream().anyMatch(letter -> letter.message().equals(new Pay(78))));
      assertTrue(logged.text().contains("a timer could not send Pay[amount=78] to entity ada"), logged.text());
    }
    broken.close();
  }

  @Test
  void badInputIsRefused() {
    assertEquals("message",
        assertThrows(NullPointerException.class, () -> town.ada().sendMessageLater(null, MINUTE)).getMessage());
    assertEquals("delay",
        assertThrows(NullPointerException.class, () -> town.ada().sendMessageLater(new Pay(1), null)).getMessage());
    assertEquals("period",
        assertThrows(NullPointerException.class, () -> town.ada().sendMessageEvery(new Pay(1), null)).getMessage());
    assertEquals("key",
        assertThrows(NullPointerException.class, () -> town.ada().sendMessageLater(null, new Pay(1), MINUTE))
            .getMessage());
    assertThrows(IllegalArgumentException.class, () -> town.ada().sendMessageEvery(new Pay(1), Duration.ZERO));
  }
}
