package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Seeds;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates requests to nodes that crash, are cut off, or move their keys. */
@Tag("simulated")
class LostRequestsSimulationTest {

  @Test
  void noRequestWaitsUntilItsLimitWhenNodesFail() {
    Seeds.play("lost requests", 40, simulation -> assertEquals(List.of(), new LostRequestsRound(simulation).play()));
  }
}
