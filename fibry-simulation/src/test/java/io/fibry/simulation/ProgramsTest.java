package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Soak;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProgramsTest {
  private static final int MOST = 200; // seeds until a bug is found
  private static final int SEEDS = Soak.ON ? 1_000 : MOST;

  @ParameterizedTest
  @EnumSource
  @Promise("29.21")
  void aProgramThatIsRightNeverFails(Programs program) {
    var summary = Simulation.run(options -> options.withSeeds(SEEDS), program.program(false));

    assertEquals(SEEDS + 1, summary.runs());
    assertTrue(summary.orders() > SEEDS / 100, summary.toString());
  }

  @Test
  @Promise("29.21")
  void aThousandSeedsAreRunUnlessTold() {
    assertEquals(1_001, Simulation.run(sim -> {}).runs());
  }

  @ParameterizedTest
  @EnumSource
  @Promise({"29.1", "29.3"})
  void aBugIsFoundAndItsRunRepeated(Programs program) {
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(program.program(true)));

    assertTrue(failure.seed() <= MOST, failure.getMessage());
    var again = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> options.withReplay(failure.replay()), program.program(true)));
    assertEquals(failure.replay(), again.replay());
    assertEquals(failure.diagram(), again.diagram());
  }
}
