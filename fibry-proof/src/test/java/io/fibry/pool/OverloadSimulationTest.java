package io.fibry.pool;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates services under more load than they can handle. */
@Tag("simulated")
class OverloadSimulationTest {

  @Test
  void refusingPoolsKeepThroughputUnlikeThreadPerRequest() {
    Seeds.play("overload", 30, simulation -> new OverloadRound(simulation).play());
  }
}
