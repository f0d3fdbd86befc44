package io.fibry.fsm;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** State machines, each round in an order that a seed decides. */
@Tag("simulated")
class FsmSimulationTest {

  @Test
  void messagesAreNeitherLostNorReordered() {
    Seeds.play("fsm", 300, simulation -> {
      var random = simulation.random().split();
      Seeds.delay(simulation);
      FsmStressTest.play(random, "simulated", Seeds.anyStrategy(random));
    });
  }
}
