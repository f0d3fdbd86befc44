package io.fibry.store.folder;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates a store whose actors are loaded and passivated, on a machine that loses its power. */
@Tag("simulated")
class InactiveActorsSimulationTest {

  @Test
  void storeLosesNothingWhileActorsAreLoadedAndPassivated() {
    Seeds.play("inactive actors", 120, simulation -> new InactiveActorsRound(simulation).play());
  }
}
