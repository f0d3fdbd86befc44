package io.fibry.durable;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates durable actors on a machine that loses its power at any step. */
@Tag("simulated")
class CrashSimulationTest {

  @Test
  void answeredTurnsSurviveCrashAndOtherTurnsAreStoredOnceOrNever() {
    Seeds.play("crashes", 600, CrashRound::play);
  }
}
