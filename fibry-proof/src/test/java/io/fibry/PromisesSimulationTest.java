package io.fibry;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates promises that the other rounds, which compare message accounts, do not check. */
@Tag("simulated")
class PromisesSimulationTest {

  @Test
  void promisesAreKeptDespiteConcurrentEndCancelOrReplace() {
    Seeds.play("promises", 3_000, EngineRounds::promises);
  }
}
