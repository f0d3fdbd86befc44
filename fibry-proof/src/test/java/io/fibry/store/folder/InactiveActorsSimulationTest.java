package io.fibry.store.folder;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store whose actors load and leave, on a machine that loses its power, each round by a seed. */
@Tag("simulated")
class InactiveActorsSimulationTest {

  @Test
  void storeForgetsNothingWhileActorsComeAndGo() {
    Seeds.play("rest", 120, simulation -> new InactiveActorsRound(simulation).play());
  }
}
