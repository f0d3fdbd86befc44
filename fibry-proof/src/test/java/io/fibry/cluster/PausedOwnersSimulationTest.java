package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Seeds;
import io.fibry.cluster.PausedOwnersRound.Planted;
import io.fibry.simulation.Simulation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Owners of durable actors that are paused for longer than their lease, while turns are in flight,
 * each round by a seed.
 */
@Tag("simulated")
class PausedOwnersSimulationTest {

  @Test
  void pausedOwnersLoseNothingAndAnswerNothingStale() {
    Seeds.play("paused owners", 30,
        simulation -> assertEquals(List.of(), new PausedOwnersRound(simulation, Planted.NONE).play()));
  }

  @Test
  void staleAnswersAreFound() {
    assertFinds(Planted.READS_ARE_CACHED, " said ");
  }

  @Test
  void turnsOfTwoOwnersAreFound() {
    assertFinds(Planted.CLOCKS_STOP, "is stored twice");
  }

  @Test
  void takersThatDoNotWaitForALeaseAreFound() {
    assertFinds(Planted.EXPIRY_IS_AN_END, "is stored twice");
  }

  /** Once it is found, a run does nothing, so most of the seeds take no time. */
  private static void assertFinds(Planted fault, String text) {
    var faults = new ArrayList<String>();
    Simulation.run(options -> options.withSeeds(300), simulation -> {
      if (faults.stream().noneMatch(one -> one.contains(text)))
        faults.addAll(new PausedOwnersRound(simulation, fault).play());
    });
    assertTrue(faults.stream().anyMatch(one -> one.contains(text)), faults::toString);
  }
}
