package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Pass;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/** Messages that wait at a store while its clock is set back, as by the machine's time service. */
abstract class ClockSkewContract extends DeskFixture {
  private volatile Duration wrong = Duration.ZERO; // the clock of the store

  ClockSkewContract(TestStores.Maker maker) {
    super(maker);
  }

  @Override
  InstantSource instants() {
    var right = super.instants();
    return () -> right.instant().plus(wrong);
  }

  @Test
  void clockSetBackDelaysNoStoredMessage() throws IOException {
    var before = keeping().newActor(scope.named("ada"), store);
    hold(before);
    before.sendMessage(new Add("a"));
    wrong = Duration.ofHours(-1);
    before.sendMessage(new Add("b"));
    wrong = Duration.ofHours(-2);
    before.sendMessage(new Add("c"));
    crashAndReopen(before);
    desk.gates.values().forEach(gate -> gate.countDown());

    var after = keeping().newActor(scope.named("ada"), store);

    eventually(() -> has(after, "a b c"));
  }

  @Test
  void clockSetBackDelaysNoMessageOfTurn() throws IOException {
    var desks = desks();
    var ada = desks.actor("ada");
    for (var item : new String[] {"a", "b", "c"}) {
      ada.sendMessage(new Pass("bob", item));
      ada.ask(new Items());
      wrong = wrong.minusHours(1);
    }

    eventually(() -> has(desks.actor("bob"), "a b c"));
    assertEquals("", ada.ask(new Items()));
  }
}
