package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Seeds;
import io.fibry.cluster.PausedOwnersRound.PlantedFault;
import io.fibry.simulation.Simulation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pauses owners of durable actors for longer than their lease, while turns are in flight. */
@Tag("simulated")
class PausedOwnersSimulationTest {

  @Test
  void pausedOwnersLoseNoTurnAndGiveNoStaleAnswer() {
    Seeds.play("paused owners", 30,
        simulation -> assertEquals(List.of(), new PausedOwnersRound(simulation, PlantedFault.NONE).play()));
  }

  @Test
  void simulationFindsInjectedStaleAnswers() {
    assertFinds(PlantedFault.READS_ARE_CACHED, " to a request sent at ");
  }

  @Test
  void simulationFindsInjectedConcurrentTurnsOfTwoOwners() {
    assertFinds(PlantedFault.CLOCKS_STOP, "is stored twice");
  }

  @Test
  void simulationFindsInjectedTakeoverBeforeLeaseExpires() {
    assertFinds(PlantedFault.TAKEOVER_BEFORE_LEASE_END, "is stored");
  }

  /**
   * Checks that a round finds the planted fault. The runs after the first find do nothing, so most
   * seeds take no time.
   */
  private static void assertFinds(PlantedFault fault, String text) {
    var errors = new ArrayList<String>();
    Simulation.run(options -> options.withSeeds(300), simulation -> {
      if (errors.stream().noneMatch(error -> error.contains(text)))
        errors.addAll(new PausedOwnersRound(simulation, fault).play());
    });
    assertTrue(errors.stream().anyMatch(error -> error.contains(text)), errors::toString);
  }
}
