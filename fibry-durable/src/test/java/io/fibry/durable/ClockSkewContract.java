package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Pass;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/**
 * Tests that pending messages are delivered although the clock of their store is set back, as a
 * time service may do.
 */
abstract class ClockSkewContract extends DeskFixture {
  private volatile Duration clockError = Duration.ZERO; // added to the time of the store

  ClockSkewContract(TestStores.Maker maker) {
    super(maker);
  }

  @Override
  InstantSource instants() {
    var correctClock = super.instants();
    return () -> correctClock.instant().plus(clockError);
  }

  @Test
  void storedMessageIsNotDelayedWhenClockIsSetBack() throws IOException {
    var firstActor = keeping().newActor(scope.named("ada"), store);
    hold(firstActor);
    firstActor.sendMessage(new Add("a"));
    clockError = Duration.ofHours(-1);
    firstActor.sendMessage(new Add("b"));
    clockError = Duration.ofHours(-2);
    firstActor.sendMessage(new Add("c"));
    crashAndReopen(firstActor);
    desk.gates.values().forEach(gate -> gate.countDown());

    var reloadedActor = keeping().newActor(scope.named("ada"), store);

    eventually(() -> has(reloadedActor, "a b c"));
  }

  @Test
  void messageSentByTurnIsNotDelayedWhenClockIsSetBack() throws IOException {
    var desks = desks();
    var ada = desks.actor("ada");
    for (var item : new String[] {"a", "b", "c"}) {
      ada.sendMessage(new Pass("bob", item));
      ada.ask(new Items());
      clockError = clockError.minusHours(1);
    }

    eventually(() -> has(desks.actor("bob"), "a b c"));
    assertEquals("", ada.ask(new Items()));
  }
}
