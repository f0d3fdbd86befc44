package io.fibry.fsm;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates state machines. */
@Tag("simulated")
class FsmSimulationTest {

  @Test
  void stateMachineNeitherLosesNorReordersMessages() {
    Seeds.play("fsm", 300, simulation -> {
      var random = simulation.random().split();
      Seeds.delay(simulation);
      FsmStressTest.runSenders(random, "simulated", Seeds.anyStrategy(random));
    });
  }
}
