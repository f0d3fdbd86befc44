package io.fibry.durable;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Simulates durable actors and their store, whose threads also yield between two accesses to shared
 * data.
 */
@Tag("yield-points")
class YieldPointCrashTest {

  @Test
  void answeredTurnsSurviveCrashAndOtherTurnsAreStoredOnceOrNever() {
    Seeds.playWithYieldPoints("crashes", 40, CrashRound::play);
  }
}
