package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates durable actors on a machine that crashes at any moment. */
@Tag("simulated")
class DurableSimulationTest {

  @Test
  void acknowledgedTurnsAreStoredOnceAfterAnyCrash() {
    Seeds.play("durable", 120, simulation -> new DurableRound(simulation).play());
  }
}
