package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Soak;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProgramsTest {
  private static final int MAX_SEEDS = 200; // each bug must be found within this number of seeds
  private static final int SEEDS = Soak.ON ? 1_000 : MAX_SEEDS;

  @ParameterizedTest
  @EnumSource
  @Promise("29.21")
  void correctProgramNeverFails(Programs program) {
    var summary = Simulation.run(options -> options.withSeeds(SEEDS), program.program(false));

    assertEquals(SEEDS + 1, summary.runs());
    assertTrue(summary.orders() > SEEDS / 100, summary.toString());
  }

  @Test
  @Promise("29.21")
  void thousandSeedsAreRunByDefault() {
    assertEquals(1_001, Simulation.run(sim -> {}).runs());
  }

  @ParameterizedTest
  @EnumSource
  @Promise({"29.1", "29.3"})
  void bugIsFoundAndItsRunCanBeRepeated(Programs program) {
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(program.program(true)));

    assertTrue(failure.seed() <= MAX_SEEDS, failure.getMessage());
    var repeatedFailure = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> options.withReplay(failure.replay()), program.program(true)));
    assertEquals(failure.replay(), repeatedFailure.replay());
    assertEquals(failure.diagram(), repeatedFailure.diagram());
  }
}
