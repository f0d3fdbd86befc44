package io.fibry.pool;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Services under more load than they can handle, in simulated time, each round by a seed. */
@Tag("simulated")
class OverloadSimulationTest {

  @Test
  void poolsThatRefuseDoAllTheyCanAndOthersCollapse() {
    Seeds.play("overload", 30, simulation -> new OverloadRound(simulation).play());
  }
}
